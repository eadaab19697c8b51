#include "app/panels/panel_frame.h"

#include <imgui_internal.h>

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

void scroll_by_keys(const WidgetContext& context) {
  if (ImGui::GetScrollMaxY() <= 0.0f || (context.focus && context.focus->focused != 0)) return;
  const float line = context.px(48), page = 0.8f * ImGui::GetWindowHeight();
  float by = 0.0f;
  if (key_pressed(Key::down)) by = line;
  if (key_pressed(Key::up)) by = -line;
  if (key_pressed(Key::page_down)) by = page;
  if (key_pressed(Key::page_up)) by = -page;
  if (key_pressed(Key::home)) by = -ImGui::GetScrollMaxY();
  if (key_pressed(Key::end)) by = ImGui::GetScrollMaxY();
  if (by != 0.0f) ImGui::SetScrollY(std::clamp(ImGui::GetScrollY() + by, 0.0f, ImGui::GetScrollMaxY()));
}

namespace {

// At the right end of the title's line; for the mouse only, the keyboard has Escape.
bool close_button(const WidgetContext& context) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = std::round(context.px(26)), height = context.fonts.title->FontSize;
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - ImGui::GetStyle().WindowPadding.x;
  const ImVec2 min{std::round(right - side), std::round(ImGui::GetItemRectMin().y + 0.5f * (height - side))};
  const ImVec2 max{min.x + side, min.y + side};
  ImGui::SetCursorScreenPos(min);
  const bool pressed = ImGui::InvisibleButton("close", {side, side});
  ui_probe_item("overlay/close");
  const Painter paint = context.painter();
  if (ImGui::IsItemHovered()) paint.fill(min, max, context.palette.control_hover, context.px(4));
  const float reach = context.px(5), thick = std::max(1.0f, context.px(1.5f));
  const ImVec2 c{0.5f * (min.x + max.x), 0.5f * (min.y + max.y)};
  const ImU32 ink = im_color(context.palette.text_dim);
  paint.line({c.x - reach, c.y - reach}, {c.x + reach, c.y + reach}, ink, thick);
  paint.line({c.x - reach, c.y + reach}, {c.x + reach, c.y - reach}, ink, thick);
  ImGui::SetCursorScreenPos(at);
  return pressed;
}

}  // namespace

bool begin_overlay(const WidgetContext& context, const char* id, const char* title, bool& open,
                   const OverlayOptions& options) {
  if (!open) {
    // Closed from elsewhere: ImGui still has to be told.
    if (ImGui::IsPopupOpen(id)) ImGui::ClosePopupToLevel(GImGui->BeginPopupStack.Size, true);
    return false;
  }
  if (!ImGui::IsPopupOpen(id)) ImGui::OpenPopup(id);
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  const float margin = context.px(16);
  const float width = std::clamp(context.px(options.width), 1.0f, std::max(1.0f, window.x - 2 * margin));
  ImGui::SetNextWindowPos({std::round(0.5f * window.x), std::round(0.5f * window.y)}, ImGuiCond_Always,
                          {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({width, 0.0f}, {width, std::max(1.0f, window.y - 2 * margin)});
  // Whole pixels: with a fraction the window's size is rounded down, and it would have something to scroll.
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {std::round(context.px(22)), std::round(context.px(18))});
  const bool visible = ImGui::BeginPopupModal(id, nullptr,
                                              ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_AlwaysAutoResize |
                                                  ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                                  ImGuiWindowFlags_NoNav);
  ImGui::PopStyleVar();
  if (!visible) return false;
  constexpr ImGuiHoveredFlags anywhere_inside =
      ImGuiHoveredFlags_RootAndChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem;
  const bool beside = options.closes_outside && !ImGui::IsWindowAppearing() &&
                      !ImGui::IsWindowHovered(anywhere_inside) && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  scroll_by_keys(context);
  const bool escape = key_pressed(Key::escape, false) && !ImGui::IsWindowAppearing();
  // A list that is open over it closes first.
  const bool list = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
  if (escape && list) ImGui::ClosePopupToLevel(ImGui::GetCurrentContext()->BeginPopupStack.Size, true);
  const bool in_inner = options.inner && *options.inner;
  if (escape && !list) (in_inner ? *options.inner : open) = false;
  if (beside) open = false;
  ImGui::PushFont(context.fonts.title);
  ImGui::TextUnformatted(title);
  ImGui::PopFont();
  if (close_button(context)) open = false;
  ui_probe(
      id, ImGui::GetWindowPos(),
      {ImGui::GetWindowPos().x + ImGui::GetWindowWidth(), ImGui::GetWindowPos().y + ImGui::GetWindowHeight()});
  ImGui::Dummy({1, context.px(4)});
  if (!open) ImGui::CloseCurrentPopup();
  return true;
}

void end_overlay() {
  ImGui::EndPopup();
}

}  // namespace headwise
