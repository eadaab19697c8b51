#include "app/widgets/tooltip.h"

#include <imgui_internal.h>

#include <algorithm>

#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr double delay_seconds = 0.45;
constexpr float width = 300.0f;  // design units, where the text wraps

}  // namespace

void tooltip(const WidgetContext& context, std::string_view text) {
  if (text.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || ImGui::IsAnyMouseDown())
    return;
  const double rested = static_cast<double>(GImGui->HoveredIdTimer);
  if (rested < delay_seconds) {
    if (context.wake_after) *context.wake_after = std::min(*context.wake_after, delay_seconds - rested);
    return;
  }
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  ui_probe("tooltip", mouse, mouse);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {context.px(10), context.px(8)});
  ImGui::BeginTooltip();
  // ImGui hides a window until it has measured it: without another frame it would stay hidden.
  const ImGuiWindow* window = ImGui::GetCurrentWindow();
  if (context.wake_after && (window->Hidden || window->Appearing)) *context.wake_after = 0.0;
  ImGui::PushFont(context.fonts.small);
  ImGui::PushTextWrapPos(context.px(width));
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

}  // namespace headwise
