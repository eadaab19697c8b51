#include "app/widgets/tooltip.h"

#include <imgui_internal.h>

#include <algorithm>

#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr double delay_seconds = 0.45;
constexpr float width = 300.0f;  // design units, where the text wraps

// How long the mouse has been on the item. ImGui counts that for items with an ID; over plain text it is the time
// since the mouse moved.
double rested_seconds() {
  if (GImGui->HoveredId != 0) return static_cast<double>(GImGui->HoveredIdTimer);
  ImGuiStorage& memory = *ImGui::GetStateStorage();
  const ImGuiID x = ImGui::GetID("tooltip/x"), y = ImGui::GetID("tooltip/y"),
                since = ImGui::GetID("tooltip/since");
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto now = static_cast<float>(ImGui::GetTime());
  if (memory.GetFloat(x, -1.0f) != mouse.x || memory.GetFloat(y, -1.0f) != mouse.y) {
    memory.SetFloat(x, mouse.x);
    memory.SetFloat(y, mouse.y);
    memory.SetFloat(since, now);
  }
  return static_cast<double>(now - memory.GetFloat(since, now));
}

}  // namespace

void tooltip(const WidgetContext& context, std::string_view text) {
  if (text.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || ImGui::IsAnyMouseDown())
    return;
  const double rested = rested_seconds();
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
