#include "app/panels/overlay.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/focus_order.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

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
  if (beside || (key_pressed(Key::escape, false) && !ImGui::IsWindowAppearing())) open = false;
  ImGui::PushFont(context.fonts.title);
  ImGui::TextUnformatted(title);
  ImGui::PopFont();
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
