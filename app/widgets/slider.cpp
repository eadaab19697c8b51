#include "app/widgets/slider.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/focus_order.h"

namespace headwise {
namespace {

constexpr double key_step = 1.0 / 40.0;
constexpr float height = 22.0f, knob_radius = 6.5f;  // design units

}  // namespace

bool slider(const WidgetContext& context, const char* id, double& position, float width) {
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const float high = std::round(context.px(height)), radius = context.px(knob_radius);
  const double before = position;
  ImGui::InvisibleButton(id, {std::max(width, 4 * radius), high});
  const float begin = min.x + radius, room = std::max(1.0f, width - 2 * radius);
  if (ImGui::IsItemActive()) position = (ImGui::GetIO().MousePos.x - begin) / room;
  const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemActive();
  const bool focused = focus_stop(context.focus, ImGui::GetID(id), FocusKeys::choose);
  if (focused) {
    if (key_pressed(Key::left)) position -= key_step;
    if (key_pressed(Key::right)) position += key_step;
    if (key_pressed(Key::home)) position = 0.0;
    if (key_pressed(Key::end)) position = 1.0;
  }
  position = std::clamp(position, 0.0, 1.0);

  const Palette& palette = context.palette;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float y = std::round(min.y + 0.5f * high), x = begin + room * static_cast<float>(position);
  const float thick = std::max(1.0f, std::round(context.px(2)));
  list->AddLine({begin, y}, {begin + room, y}, im_color(palette.text_faint), thick);
  list->AddLine({begin, y}, {x, y}, im_color(palette.text_dim), thick);
  list->AddCircleFilled({x, y}, radius, im_color(hovered || focused ? palette.focus : palette.text));
  return position != before;
}

}  // namespace headwise
