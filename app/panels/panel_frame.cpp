#include "app/panels/panel_frame.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// The background of a panel: two rectangles that leave the corners out, and the corners, rounded,
// in ImGui's list.
void lay_ground(std::vector<GroundRect>& grounds, const RectF& rect) {
  const ImVec4 color = ImGui::GetStyleColorVec4(ImGuiCol_WindowBg);
  const int round = static_cast<int>(std::ceil(ImGui::GetStyle().ChildRounding));
  const int x = static_cast<int>(rect.x), y = static_cast<int>(rect.y);
  const int width = static_cast<int>(rect.width), height = static_cast<int>(rect.height);
  grounds.push_back({x, y + round, width, height - 2 * round, color});
  grounds.push_back({x + round, y, width - 2 * round, height, color});
  // A corner's own rectangle has to be larger than its arc.
  const auto side = float(round + 2);
  const float left = float(x), top = float(y);
  const float right = float(x + width), bottom = float(y + height);
  const auto corner = [&](float min_x, float min_y, ImDrawFlags which) {
    ImGui::GetWindowDrawList()->AddRectFilled({min_x, min_y}, {min_x + side, min_y + side},
                                              ImGui::GetColorU32(color), ImGui::GetStyle().ChildRounding,
                                              which);
  };
  corner(left, top, ImDrawFlags_RoundCornersTopLeft);
  corner(right - side, top, ImDrawFlags_RoundCornersTopRight);
  corner(left, bottom - side, ImDrawFlags_RoundCornersBottomLeft);
  corner(right - side, bottom - side, ImDrawFlags_RoundCornersBottomRight);
}

// ImGui omits it if a window has no background of its own. It is in the panel's own list, below its contents.
void draw_border(ImVec2 min, ImVec2 max) {
  const ImGuiStyle& style = ImGui::GetStyle();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(min, max);
  list.AddRect(min, max, ImGui::GetColorU32(ImGuiCol_Border), style.ChildRounding, 0, style.ChildBorderSize);
  list.PopClipRect();
}

}  // namespace

bool begin_panel(const char* name, std::vector<GroundRect>& grounds, const RectF& rect, float padding_x,
                 float padding_y, ImGuiWindowFlags flags) {
  if (rect.width < 1.0 || rect.height < 1.0) return false;
  const ImVec2 min{float(rect.x), float(rect.y)};
  const ImVec2 size{float(rect.width), float(rect.height)};
  ImGui::SetCursorScreenPos(min);
  lay_ground(grounds, rect);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {padding_x, padding_y});
  ImGui::BeginChild(name, size, true,
                    ImGuiWindowFlags_AlwaysUseWindowPadding | ImGuiWindowFlags_NoBackground | flags);
  ImGui::PopStyleVar();
  draw_border(min, {min.x + size.x, min.y + size.y});
  ui_probe(name, min, {min.x + size.x, min.y + size.y});
  return true;
}

bool begin_bare_panel(const char* name, const RectF& rect) {
  if (rect.width < 1.0 || rect.height < 1.0) return false;
  const ImVec2 min{float(rect.x), float(rect.y)};
  const ImVec2 size{float(rect.width), float(rect.height)};
  ImGui::SetCursorScreenPos(min);
  ImGui::BeginChild(
      name, size, false,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ui_probe(name, min, {min.x + size.x, min.y + size.y});
  return true;
}

void scroll_by_keys(const FocusOrder& focus, int part, float line) {
  if (!ImGui::GetIO().KeyCtrl || focus.keys == FocusKeys::text || focused_part(focus) != part) return;
  if (key_pressed(Key::down)) ImGui::SetScrollY(ImGui::GetScrollY() + line);
  if (key_pressed(Key::up)) ImGui::SetScrollY(std::max(0.0f, ImGui::GetScrollY() - line));
}

}  // namespace headwise
