#include "app/widgets/controls.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

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

constexpr float label_padding = 9.0f;  // design units on each side of a label
constexpr float control_height = 22.0f;

// Left edges of the segments and, last, the right edge of all; surplus or missing width is shared equally,
// down to three quarters of the labels' padding.
std::vector<float> edges(const WidgetContext& context, std::span<const std::string_view> labels, float width) {
  std::vector<float> at{0.0f};
  for (const std::string_view label : labels) {
    at.push_back(at.back() + std::ceil(width_of(context.fonts.small, label) + 2 * context.px(label_padding)));
  }
  const float even = (width - at.back()) / float(std::max<std::size_t>(labels.size(), 1));
  const float extra = width > 0.0f ? std::max(even, -1.5f * context.px(label_padding)) : 0.0f;
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = std::round(at[i] + extra * float(i));
  return at;
}

int moved_by_keys(int chosen, int count) {
  if (chosen < 0) {  // two ways to step: the arrow key decides
    if (key_pressed(Key::left)) return 0;
    if (key_pressed(Key::right)) return count - 1;
  }
  if (key_pressed(Key::left)) return std::max(chosen - 1, 0);
  if (key_pressed(Key::right)) return std::min(chosen + 1, count - 1);
  if (key_pressed(Key::home)) return 0;
  if (key_pressed(Key::end)) return count - 1;
  if (press_key_pressed()) return (chosen + 1) % count;
  return chosen;
}

constexpr float knob = 5.0f;

double rounded(double value, const SliderOptions& options) {
  const double inside = std::clamp(value, options.least, options.most);
  if (options.stops < 2) return inside;
  const double width = (options.most - options.least) / (options.stops - 1);
  return options.least + std::round((inside - options.least) / width) * width;
}

double moved_by_keys(double value, const SliderOptions& options) {
  if (key_pressed(Key::left)) return value - options.step;
  if (key_pressed(Key::right)) return value + options.step;
  if (key_pressed(Key::page_down)) return value - 10 * options.step;
  if (key_pressed(Key::page_up)) return value + 10 * options.step;
  if (key_pressed(Key::home)) return options.least;
  if (key_pressed(Key::end)) return options.most;
  return value;
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

float text_link_width(const WidgetContext& context, std::string_view words) {
  return std::ceil(width_of(context.fonts.small, words));
}

bool text_link(const WidgetContext& context, const char* id, std::string_view words, std::string_view what) {
  ImFont* font = context.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size(text_link_width(context, words), font->FontSize + context.px(2));
  const auto [box, pressed, hovered, focused] = press_item(context, id, size);
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  named_item(context, id, what);
  const Palette& palette = context.palette;
  const Rgba8 ink = hovered || focused ? palette.text : palette.text_dim;
  const Painter paint = context.painter();
  paint.text(font, {std::round(at.x), std::round(at.y)}, ink, words);
  const float y = std::floor(at.y + font->FontSize + context.px(1)) + 0.5f;
  paint.line({at.x, y}, {at.x + size.x, y}, hovered || focused ? palette.text : palette.text_faint,
             context.scale);
  return pressed;
}

ImVec2 segmented_control_size(const WidgetContext& context, std::span<const std::string_view> labels) {
  return {edges(context, labels, 0.0f).back(), std::round(context.px(control_height))};
}

float segmented_control_least_width(const WidgetContext& context, std::span<const std::string_view> labels) {
  return edges(context, labels, 0.0f).back() - 1.4f * context.px(label_padding) * float(labels.size());
}

bool segmented_control(const WidgetContext& context, const char* id, std::span<const std::string_view> labels,
                       int& chosen, const SegmentedOptions& options) {
  const int count = static_cast<int>(labels.size());
  if (count == 0) return false;
  const std::vector<float> at = edges(context, labels, options.width);
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const ImVec2 max{min.x + at.back(), min.y + std::round(context.px(control_height))};
  const bool pressed = ImGui::InvisibleButton(id, {max.x - min.x, max.y - min.y});
  const bool hovered = ImGui::IsItemHovered() && options.enabled;
  const int before = chosen;
  bool focused = false;
  int under_mouse = -1;
  if (options.enabled) {
    focused = focus_stop(context.focus, ImGui::GetID(id), FocusKeys::choose);
    const float x = ImGui::GetIO().MousePos.x - min.x;
    for (int i = 0; hovered && i < count; ++i) {
      if (x >= at[static_cast<std::size_t>(i)] && x < at[static_cast<std::size_t>(i) + 1]) under_mouse = i;
    }
    if (pressed && under_mouse >= 0) chosen = under_mouse;
    if (focused) chosen = moved_by_keys(chosen, count);
  }

  const Palette& palette = context.palette;
  const Painter paint = context.painter();
  const float rounding = context.px(4), line = std::max(1.0f, std::floor(context.scale));
  for (int i = 0; i < count; ++i) {
    const float left = min.x + at[static_cast<std::size_t>(i)],
                right = min.x + at[static_cast<std::size_t>(i) + 1];
    const bool on = i == chosen;
    const ImDrawFlags corners =
        (i == 0 ? ImDrawFlags_RoundCornersLeft : 0) | (i + 1 == count ? ImDrawFlags_RoundCornersRight : 0);
    const ImDrawFlags rounded = corners == 0 ? ImDrawFlags_RoundCornersNone : corners;
    if (on || i == under_mouse) {
      paint.list->AddRectFilled({left, min.y}, {right, max.y},
                                im_color(on ? palette.control : palette.control_hover), rounding, rounded);
    }
    const std::string_view label = labels[static_cast<std::size_t>(i)];
    ImFont* font = context.fonts.small;
    const float x = std::round(0.5f * (left + right - width_of(font, label)));
    const float y = std::round(0.5f * (min.y + max.y - font->FontSize));
    const Rgba8 ink = !options.enabled ? palette.text_faint : on ? palette.focus : palette.text_dim;
    paint.text(font, {x, y}, ink, label);
  }
  paint.outline(min, max, palette.border, line, rounding);
  return chosen != before;
}

bool narrow_segmented_control(const WidgetContext& context, const char* id,
                              std::span<const std::string_view> labels, int& chosen, float room,
                              std::string_view probes) {
  SegmentedOptions options;
  if (segmented_control_size(context, labels).x > room) options.width = std::max(room, 1.0f);
  const bool changed = segmented_control(context, id, labels, chosen, options);
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  const std::vector<float> at = edges(context, labels, options.width);
  for (std::size_t i = 0; i < labels.size() && ui_probes_wanted(); ++i)
    ui_probe(fmt::format("{}/{}", probes, labels[i]), ImVec2(min.x + at[i], min.y),
             ImVec2(min.x + at[i + 1], max.y));
  return changed;
}

SliderResult slider(const WidgetContext& context, const char* id, double& value, const SliderOptions& options) {
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(options.width, 1.0f), std::round(context.px(control_height))};
  ImGui::InvisibleButton(id, size);
  const bool hovered = ImGui::IsItemHovered() && options.enabled;
  SliderResult result;
  result.held = ImGui::IsItemActive() && options.enabled;
  const bool focused = options.enabled && focus_stop(context.focus, ImGui::GetID(id), FocusKeys::slide);
  const float reach = context.px(knob);
  const float left = min.x + reach, right = std::max(left + 1.0f, min.x + size.x - reach);
  const double range = options.most - options.least;
  const double before = value;
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    value = options.normal;
  } else if (result.held && (ImGui::IsMouseDragging(ImGuiMouseButton_Left, 0.5f) || ImGui::IsItemActivated())) {
    value = rounded(
        options.least + range * static_cast<double>((ImGui::GetIO().MousePos.x - left) / (right - left)),
        options);
  }
  // A value between two stops stays until a key moves it.
  if (const double moved = moved_by_keys(value, options); focused && moved != value)
    value = rounded(moved, options);
  result.changed = value != before;

  const Palette& palette = context.palette;
  const Painter paint = context.painter();
  const float y = std::round(min.y + 0.5f * size.y), thick = context.px(2);
  const auto x_of = [&](double at) {
    const double share = range > 0.0 ? std::clamp((at - options.least) / range, 0.0, 1.0) : 0.0;
    return left + float(share) * (right - left);
  };
  paint.line({left, y}, {right, y}, palette.text_faint, thick);
  paint.line({left, y}, {x_of(value), y}, options.enabled ? palette.text_dim : palette.text_faint, thick);
  const auto tick = [&](double at) {
    paint.line({x_of(at), y - context.px(4)}, {x_of(at), y + context.px(4)}, palette.text_faint, context.scale);
  };
  if (options.stops > 1) {
    for (int stop = 0; stop < options.stops; ++stop) tick(options.least + range * stop / (options.stops - 1));
  } else {
    tick(options.normal);
  }
  const bool bright = hovered || result.held || focused;
  paint.dot({x_of(value), y}, context.px(bright ? knob : knob - 0.5f),
            bright            ? palette.focus
            : options.enabled ? palette.text
                              : palette.text_faint);
  return result;
}

}  // namespace headwise
