#include "app/sheets/log_sheet.h"

#include <imgui.h>

#include <algorithm>

#include "app/panels/overlay.h"
#include "app/widgets/controls.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

bool draw_log_sheet(const WidgetContext& context, LogSheetState& state) {
  if (!begin_overlay(context, "overlay/log", "Error log", state.open, {.width = 760})) return false;
  ImGui::PushFont(context.fonts.small);
  ImGui::PushStyleColor(ImGuiCol_Text, im_vec4(context.palette.text_dim));
  ImGui::TextUnformatted(state.path.c_str());
  ImGui::PopStyleColor();
  ImGui::Dummy({1, context.px(6)});
  const float most = 0.6f * ImGui::GetIO().DisplaySize.y;
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float wanted = line * float(std::max<std::size_t>(state.lines.size(), 1)) * 2.0f;
  ImGui::BeginChild("log", {0, std::min(wanted, most)});
  scroll_by_keys(context);
  ImGui::PushTextWrapPos(0.0f);
  if (state.lines.empty()) ImGui::TextUnformatted("No errors have been logged.");
  for (const std::string& each : state.lines) ImGui::TextUnformatted(each.c_str());
  ImGui::PopTextWrapPos();
  if (ImGui::IsWindowAppearing()) ImGui::SetScrollHereY(1.0f);
  ui_probe(
      "log/lines", ImGui::GetWindowPos(),
      {ImGui::GetWindowPos().x + ImGui::GetWindowWidth(), ImGui::GetWindowPos().y + ImGui::GetWindowHeight()});
  ImGui::EndChild();
  ImGui::PopFont();
  ImGui::Dummy({1, context.px(6)});
  const bool copy = text_button(context, "log/copy", "Copy the path");
  ui_probe_item("log/copy");
  end_overlay();
  return copy;
}

}  // namespace headwise
