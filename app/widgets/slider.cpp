#include "app/widgets/slider.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"

namespace headwise {
namespace {

constexpr float control_height = 22.0f;  // design units
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
