#include "app/widgets/segmented_control.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"

namespace headwise {
namespace {

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

}  // namespace

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

}  // namespace headwise
