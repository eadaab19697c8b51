#include "app/sheets/comparison_sheet.h"

#include <imgui.h>

#include <algorithm>

#include "app/panels/overlay.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/segmented_control.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// Design units. All tabs have the same height, so that the tab bar stays where it is.
constexpr float sheet_width = 900.0f, sheet_height = 688.0f;

constexpr std::string_view questions[] = {
    "One packed in_proj_weight, three linear layers, or a small matrix for each head: are they the same?",
    "Many narrow heads, or one head over the whole width: are they the same?",
    "A dictionary returns the value of one key. What does attention return?"};

}  // namespace

void draw_comparison_sheet(const PanelContext& context, const TracePtr& trace, Comparisons& comparisons,
                           ComparisonSheetState& state) {
  if (!state.open) state.lookup.placed = false;
  const WidgetContext widgets = context.widgets();
  if (!begin_overlay(widgets, "overlay/comparison", "Is it the same?", state.open, {.width = sheet_width}))
    return;
  ImGui::PushFont(context.fonts.small);
  work_probe("comparisons");
  segmented_control(widgets, "tabs", comparison_tabs, state.tab);
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  float left = min.x;
  for (std::size_t i = 0; i < comparison_tabs.size(); ++i) {
    const std::span<const std::string_view> until(comparison_tabs.data(), i + 1);
    const float right = min.x + segmented_control_size(widgets, until).x;
    ui_probe("comparison/tab", static_cast<int>(i), {left, min.y}, {right, max.y});
    left = right;
  }
  ImGui::Dummy({1, widgets.px(2)});
  dim_sentence(widgets, questions[state.tab]);
  ImGui::Dummy({1, widgets.px(4)});
  if (state.tab == 2) {
    draw_lookup_comparison(context, trace, state.lookup);
  } else if (const auto computed = comparisons.of(trace); !computed) {
    dim_sentence(widgets, "Computing both sides, forward and backward …" + comparisons.waiting().text());
    if (widgets.wake_after) *widgets.wake_after = std::min(*widgets.wake_after, seconds_between_words);
    ui_probe_item("comparison/computing");
  } else if (!computed->error.empty()) {
    error_line(widgets, computed->error);
  } else if (state.tab == 0) {
    draw_layout_comparison(context, computed->layouts);
  } else {
    draw_head_width_comparison(context, computed->head_width);
  }
  const float spare = ImGui::GetWindowPos().y +
                      std::min(widgets.px(sheet_height), ImGui::GetIO().DisplaySize.y) -
                      ImGui::GetCursorScreenPos().y - widgets.px(50);
  if (spare > 0.0f) ImGui::Dummy({1, spare});
  ImGui::PopFont();
  end_overlay();
}

}  // namespace headwise
