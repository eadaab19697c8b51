#include "app/widgets/button.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"

namespace headwise {
namespace {

// Design units: beside a label, and above and below it together
constexpr float side_padding = 12, air = 13;

struct ButtonState {
  ImVec2 min, max;
  bool pressed, hovered, focused;
};

ButtonState button_item(const WidgetContext& context, const char* id, ImVec2 size, bool enabled) {
  ButtonState state{};
  state.min = ImGui::GetCursorScreenPos();
  state.max = {state.min.x + size.x, state.min.y + size.y};
  state.pressed = ImGui::InvisibleButton(id, size) && enabled;
  state.hovered = enabled && ImGui::IsItemHovered();
  if (enabled) state.focused = focus_stop(context.focus, ImGui::GetID(id), FocusKeys::press);
  if (state.focused && press_key_pressed()) state.pressed = true;
  return state;
}

void draw_ground(const WidgetContext& context, const ButtonState& state, ButtonLook look) {
  const Palette& palette = context.palette;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float rounding = context.px(4);
  if (look == ButtonLook::filled || state.hovered) {
    const Rgba8 ground = look == ButtonLook::filled && !state.hovered ? palette.control : palette.control_hover;
    draw.AddRectFilled(state.min, state.max, im_color(ground), rounding);
  }
  if (look == ButtonLook::filled) {
    draw.AddRect(state.min, state.max, im_color(palette.border), rounding, 0,
                 std::max(1.0f, std::floor(context.scale)));
  }
}

}  // namespace

bool text_button(const WidgetContext& context, const char* id, std::string_view label, ButtonLook look,
                 bool enabled) {
  ImFont* font = context.fonts.small;
  const char* end = label.data() + label.size();
  const float text_width = width_of(font, label);
  const ImVec2 size{std::ceil(text_width + 2 * context.px(12)), std::round(context.px(26))};
  const ButtonState state = button_item(context, id, size, enabled);
  draw_ground(context, state, look);
  const ImVec2 at{std::round(0.5f * (state.min.x + state.max.x - text_width)),
                  std::round(0.5f * (state.min.y + state.max.y - font->FontSize))};
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at,
                                      im_color(enabled ? context.palette.text : context.palette.text_faint),
                                      label.data(), end);
  return state.pressed;
}

ButtonShape button_shape(float scale, const Type& type, float wrap, const std::string& label) {
  const float padding = side_padding * scale;
  const ImVec2 text = size_in(type, std::max(1.0f, wrap - 2 * padding), label);
  return {type, {std::ceil(text.x + 2 * padding), std::round(text.y + air * scale)}};
}

bool wrapped_button(const WidgetContext& context, const char* id, const std::string& label,
                    const ButtonShape& shape, ButtonLook look, bool enabled) {
  const ButtonState state = button_item(context, id, shape.size, enabled);
  draw_ground(context, state, look);
  // As it was measured: half a pixel less would break a line anew.
  const float padding = context.px(side_padding), wrap = shape.size.x - 2 * padding + 1.0f;
  const ImVec2 text = size_in(shape.type, wrap, label);
  const ImVec2 at{std::round(state.min.x + padding), std::round(0.5f * (state.min.y + state.max.y - text.y))};
  draw_text_in(ImGui::GetWindowDrawList(), shape.type, at,
               im_color(enabled ? context.palette.text : context.palette.text_faint), wrap, label);
  return state.pressed;
}

bool sign_button(const WidgetContext& context, const char* id, ButtonSign sign, float height,
                 std::string_view label, bool enabled) {
  ImFont* font = context.fonts.sans;
  if (label.empty()) label = "";  // ImGui treats an empty range ending at null as no text
  const char* end = label.data() + label.size();
  const float text_width = width_of(font, label);
  const float beside = label.empty() ? 0.0f : std::ceil(text_width + context.px(6));
  const ButtonState state = button_item(context, id, {height + beside, height}, enabled);
  draw_ground(context, state, ButtonLook::plain);
  const ImU32 ink = im_color(enabled ? context.palette.text : context.palette.text_faint);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 c{std::round(state.min.x + 0.5f * height), std::round(0.5f * (state.min.y + state.max.y))};
  const float r = std::round(context.px(5)), bar = std::max(1.0f, std::round(context.px(1.5f)));
  switch (sign) {
    case ButtonSign::back:
      draw.AddTriangleFilled({c.x - r, c.y}, {c.x + r, c.y - r}, {c.x + r, c.y + r}, ink);
      break;
    case ButtonSign::play:
      draw.AddTriangleFilled({c.x + r, c.y}, {c.x - r, c.y + r}, {c.x - r, c.y - r}, ink);
      break;
    case ButtonSign::forward:
      draw.AddTriangleFilled({c.x + r, c.y}, {c.x - r, c.y + r}, {c.x - r, c.y - r}, ink);
      draw.AddRectFilled({c.x + r, c.y - r}, {c.x + r + bar, c.y + r}, ink);
      break;
    case ButtonSign::pause:
      draw.AddRectFilled({c.x - r, c.y - r}, {c.x - 0.25f * r, c.y + r}, ink);
      draw.AddRectFilled({c.x + 0.25f * r, c.y - r}, {c.x + r, c.y + r}, ink);
      break;
  }
  if (!label.empty()) {
    draw.AddText(font, font->FontSize, {c.x + r + context.px(6), std::round(c.y - 0.5f * font->FontSize)},
                 ink, label.data(), end);
  }
  return state.pressed;
}

}  // namespace headwise
