#include "app/widgets/button.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"

namespace headwise {
namespace {

// Design units: beside a label, and above and below it together
constexpr float side_padding = 12, air = 13;

void draw_ground(const WidgetContext& context, const PressItem& item, ButtonLook look) {
  const Palette& palette = context.palette;
  const Painter paint = context.painter();
  const float rounding = context.px(4);
  if (look == ButtonLook::filled || item.hovered) {
    const Rgba8 ground = look == ButtonLook::filled && !item.hovered ? palette.control : palette.control_hover;
    paint.fill(item.box, ground, rounding);
  }
  if (look == ButtonLook::filled) {
    paint.outline(item.box, palette.border, std::max(1.0f, std::floor(context.scale)), rounding);
  }
}

}  // namespace

PressItem press_item(const WidgetContext& context, const char* id, ImVec2 size, bool enabled) {
  const ImVec2 min = ImGui::GetCursorScreenPos();
  PressItem item{{min, {min.x + size.x, min.y + size.y}}};
  item.pressed = ImGui::InvisibleButton(id, size) && enabled;
  item.hovered = enabled && ImGui::IsItemHovered();
  item.focused = enabled && focus_stop(context.focus, ImGui::GetID(id), FocusKeys::press);
  if (item.focused && press_key_pressed()) item.pressed = true;
  return item;
}

bool text_button(const WidgetContext& context, const char* id, std::string_view label, ButtonLook look,
                 bool enabled) {
  ImFont* font = context.fonts.small;
  const char* end = label.data() + label.size();
  const float text_width = width_of(font, label);
  const ImVec2 size{std::ceil(text_width + 2 * context.px(12)), std::round(context.px(26))};
  const PressItem item = press_item(context, id, size, enabled);
  draw_ground(context, item, look);
  const ImVec2 at{std::round(0.5f * (item.box.min.x + item.box.max.x - text_width)),
                  std::round(0.5f * (item.box.min.y + item.box.max.y - font->FontSize))};
  context.painter().text(font, at, enabled ? context.palette.text : context.palette.text_faint,
                         {label.data(), end});
  return item.pressed;
}

ButtonShape button_shape(float scale, const Type& type, float wrap, const std::string& label) {
  const float padding = side_padding * scale;
  const ImVec2 text = size_in(type, std::max(1.0f, wrap - 2 * padding), label);
  return {type, {std::ceil(text.x + 2 * padding), std::round(text.y + air * scale)}};
}

bool wrapped_button(const WidgetContext& context, const char* id, const std::string& label,
                    const ButtonShape& shape, ButtonLook look, bool enabled) {
  const PressItem item = press_item(context, id, shape.size, enabled);
  draw_ground(context, item, look);
  // As it was measured: half a pixel less would break a line anew.
  const float padding = context.px(side_padding), wrap = shape.size.x - 2 * padding + 1.0f;
  const ImVec2 text = size_in(shape.type, wrap, label);
  const ImVec2 at{std::round(item.box.min.x + padding),
                  std::round(0.5f * (item.box.min.y + item.box.max.y - text.y))};
  draw_text_in(ImGui::GetWindowDrawList(), shape.type, at,
               im_color(enabled ? context.palette.text : context.palette.text_faint), wrap, label);
  return item.pressed;
}

bool sign_button(const WidgetContext& context, const char* id, ButtonSign sign, float height,
                 std::string_view label, bool enabled) {
  ImFont* font = context.fonts.sans;
  if (label.empty()) label = "";  // ImGui treats an empty range ending at null as no text
  const char* end = label.data() + label.size();
  const float text_width = width_of(font, label);
  const float beside = label.empty() ? 0.0f : std::ceil(text_width + context.px(6));
  const PressItem item = press_item(context, id, {height + beside, height}, enabled);
  draw_ground(context, item, ButtonLook::plain);
  const ImU32 ink = im_color(enabled ? context.palette.text : context.palette.text_faint);
  const Painter paint = context.painter();
  const ImVec2 c{std::round(item.box.min.x + 0.5f * height),
                 std::round(0.5f * (item.box.min.y + item.box.max.y))};
  const float r = std::round(context.px(5)), bar = context.hairline(1.5f);
  switch (sign) {
    case ButtonSign::back:
      paint.list->AddTriangleFilled({c.x - r, c.y}, {c.x + r, c.y - r}, {c.x + r, c.y + r}, ink);
      break;
    case ButtonSign::play:
      paint.list->AddTriangleFilled({c.x + r, c.y}, {c.x - r, c.y + r}, {c.x - r, c.y - r}, ink);
      break;
    case ButtonSign::forward:
      paint.list->AddTriangleFilled({c.x + r, c.y}, {c.x - r, c.y + r}, {c.x - r, c.y - r}, ink);
      paint.fill({c.x + r, c.y - r}, {c.x + r + bar, c.y + r}, ink);
      break;
    case ButtonSign::pause:
      paint.fill({c.x - r, c.y - r}, {c.x - 0.25f * r, c.y + r}, ink);
      paint.fill({c.x + 0.25f * r, c.y - r}, {c.x + r, c.y + r}, ink);
      break;
  }
  if (!label.empty()) {
    paint.text(font, {c.x + r + context.px(6), std::round(c.y - 0.5f * font->FontSize)}, ink,
               {label.data(), end});
  }
  return item.pressed;
}

}  // namespace headwise
