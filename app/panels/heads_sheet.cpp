#include "app/panels/heads_sheet.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/panel_frame.h"
#include "app/session/commands.h"
#include "app/widgets/controls.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/files/file_paths.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

// Design units
constexpr float heads_sheet_width = 1280.0f, around_heads = 52.0f, bar_width = 150.0f;
constexpr float right_width = 384.0f, above_height = 34.0f, least_beside = 760.0f;

std::string missing_sentence(const Scenario& scenario) {
  if (!is_of_model(scenario) && names_a_model(scenario))
    return "These parameters do not come from a trained model. Under PARAMETERS, set heads to model.";
  if (const std::string why = no_text_for_model(scenario); !why.empty())
    return "This model cannot read text, so nothing can be measured: " + why;
  if (!is_of_model(scenario))
    return "These parameters do not come from a trained model. Open one (use File, Open… or drop its folder "
           "on the window) and give it a text; all its heads are then measured here.";
  return "Give the model a text: under TEXT, set inputs to text. All its heads are then measured on it here.";
}

void draw_finding_progress(const WidgetContext& widgets, const Waiting& waiting, Index heads) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = widgets.px(bar_width), thick = std::max(2.0f, std::round(widgets.px(3)));
  const float y = std::round(at.y + widgets.px(11));
  const Painter paint = widgets.painter();
  const float done = float(std::clamp(waiting.fraction, 0.0, 1.0));
  paint.fill({at.x, y}, {at.x + width, y + thick}, widgets.palette.border);
  paint.fill({at.x, y}, {at.x + width * done, y + thick}, widgets.palette.bar);
  ui_probe("heads/progress", {at.x, y}, {at.x + width, y + thick});
  ImGui::Dummy({width + widgets.px(8), 1});
  ImGui::SameLine();
  ImGui::SetCursorScreenPos({ImGui::GetCursorScreenPos().x, at.y + widgets.px(4)});
  const auto muted = static_cast<Index>(waiting.fraction * static_cast<double>(heads));
  dim_text(widgets, fmt::format("{} of {} heads", std::min(muted, heads), heads));
  if (widgets.wake_after) *widgets.wake_after = std::min(*widgets.wake_after, seconds_between_words);
}

// The button that mutes each head, or the progress of that.
void draw_muting(const WidgetContext& widgets, HeadFinding& finding, const HeadQuestion& question,
                 const FoundHeads& found, const std::string& error) {
  const auto heads = static_cast<Index>(found.survey->heads.size());
  if (finding.to_mute) {
    if (text_button(widgets, "cancel", "Cancel")) {
      finding.to_mute.reset();
      finding.muting.suspend();
    }
    named_item(widgets, "heads/cancel", "Stops muting the heads.");
    ImGui::SameLine();
    draw_finding_progress(widgets, finding.muting.waiting(), heads);
    return;
  }
  const bool known = finding.muting.cached(question) != nullptr;
  if (known && error.empty()) {
    const auto& muted = finding.muting.cached(question)->answer->muting->heads;
    const bool no_number =
        std::ranges::all_of(muted, [](const MutedHead& head) { return head.positions == 0; });
    dim_sentence(
        widgets,
        no_number
            ? "The model's prediction is NaN, so the effect of a head cannot be measured."
            : "Each head was muted in turn: the right columns show what the model predicts without it.");
    return;
  }
  if (text_button(widgets, "mute", "Mute each head in turn", ButtonLook::filled, found.no_words.empty()))
    finding.to_mute = question;
  named_item(widgets, "heads/mute",
             found.no_words.empty() ? "Computes, in the background, the model's prediction without "
                                      "each head in turn, and shows what changes."
                                    : found.no_words);
  if (!error.empty()) error_line(widgets, error);
}

PanelAction lead_to(const PanelContext& context, const SurveyedHead& head) {
  PanelAction action;
  if (context.scenario.parameters.layer != head.layer) {
    action.scenario = context.scenario;
    action.scenario->parameters.layer = head.layer;
    action.edit_label = fmt::format("show head {}", head_name(head));
  }
  action.selection = weights_of_head(context.selection, head.head);
  return action;
}

// The sentence on the left; on the right, above the columns that it fills, the muting button.
// True if the link to the training of the model was pressed.
bool draw_above(const WidgetContext& widgets, HeadFinding& finding, const HeadQuestion& question,
                const FoundHeads& found, const std::string& error, bool has_training) {
  const HeadSurvey& survey = *found.survey;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  const bool beside = room >= widgets.px(least_beside);
  const float right = beside ? widgets.px(right_width) : room;
  const float left = beside ? room - right - widgets.px(24) : room;
  const std::string about = fmt::format(
      "{}, {} layers × {} heads, on {} tokens: where each head's weight goes. The model is measured as in "
      "its file, without changes made in the window. Click a row to show that head.",
      found.model, survey.num_layers, survey.num_heads, survey.length);
  ImFont* font = widgets.fonts.sans;
  const float height = std::ceil(
      std::max(widgets.px(above_height), font->CalcTextSizeA(font->FontSize, FLT_MAX, left, about.c_str()).y +
                                             2.0f + (has_training ? widgets.px(20) : 0.0f)));
  ImGui::BeginChild("about", {left, height}, false, ImGuiWindowFlags_NoScrollbar);
  dim_sentence(widgets, about);
  const bool asked =
      has_training && text_link(widgets, "heads/training", "How it was trained",
                                "Read on which texts this model was trained, and for how long.");
  ImGui::EndChild();
  if (beside) ImGui::SetCursorScreenPos({at.x + room - right, at.y});
  ImGui::BeginChild("muting", {right, beside ? height : widgets.px(above_height)}, false,
                    ImGuiWindowFlags_NoScrollbar);
  draw_muting(widgets, finding, question, found, error);
  ImGui::EndChild();
  if (!found.notice.empty()) warning_line(widgets, found.notice);
  return asked;
}

}  // namespace

PanelAction draw_heads_sheet(const PanelContext& context, HeadFinding& finding, HeadsSheetState& state) {
  PanelAction action;
  if (!state.open) {
    finding.suspend();
    state.came = false;
    return action;
  }
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const std::optional<HeadQuestion> question = head_question(context.scenario);
  if (!begin_overlay(context, "overlay/heads", "Heads of the model", state.open,
                     {.width = question ? heads_sheet_width : 520.0f, .closes_outside = true}))
    return action;
  ImGui::PushFont(context.fonts.small);
  work_probe("heads of the model");
  const bool hidden = context.hides_heads();
  const auto outcome = question && !hidden ? finding.survey.of(*question) : nullptr;
  if (hidden) {
    dim_sentence(context, context.hidden_heads_words());
    ui_probe_item("heads/hidden");
  } else if (!question) {
    dim_sentence(context, missing_sentence(context.scenario));
    ui_probe_item("heads/missing");
  } else if (!outcome) {
    dim_sentence(context, "Measuring all heads …" + finding.survey.waiting().text());
    if (context.wake_after) *context.wake_after = std::min(*context.wake_after, seconds_between_words);
    ui_probe_item("heads/measuring");
  } else if (!outcome->answer) {
    error_line(context, outcome->error);
    ui_probe_item("heads/error");
  } else if (outcome->answer->empty) {
    dim_sentence(context, "The text is empty. Type one (TEXT, at the left) to measure all heads on it.");
    ui_probe_item("heads/missing");
  } else {
    const FoundHeads& found = *outcome->answer;
    if (finding.to_mute && *finding.to_mute != *question) finding.to_mute.reset();
    const auto muted = finding.to_mute ? finding.muting.of(*question) : finding.muting.cached(*question);
    if (muted) finding.to_mute.reset();
    if (draw_above(context, finding, *question, found, muted ? muted->error : "",
                   is_stored(context.scenario.parameters.file.value_or("")))) {
      action.command = CommandId::model_training;
      state.open = false;
      ImGui::CloseCurrentPopup();
    }
    ImGui::Dummy({1, context.px(4)});
    const float above = ImGui::GetCursorScreenPos().y - ImGui::GetWindowPos().y;
    const float height = std::floor(std::max(context.px(160), display.y - above - context.px(around_heads)));
    HeadsTable table{found.survey, nullptr, nullptr, {}};
    if (muted && muted->answer) {
      table.muting = muted->answer->muting;
      table.changes = &muted->answer->changes;
    }
    const Index layer = context.scenario.parameters.layer - found.survey->first_layer;
    const auto looked_at = layer * found.survey->num_heads + context.selection.head;
    if (looked_at >= 0 && looked_at < static_cast<Index>(found.survey->heads.size()))
      table.looked_at = static_cast<std::size_t>(looked_at);
    // On opening, the current head is in view.
    if (!std::exchange(state.came, true)) state.table.scroll_to = table.looked_at;
    if (const auto chosen = draw_heads_table(context, table, state.table, height)) {
      action = lead_to(context, found.survey->heads[*chosen]);
      state.table.at = chosen;
      state.open = false;
      ImGui::CloseCurrentPopup();
    }
  }
  ImGui::PopFont();
  end_overlay();
  return action;
}

}  // namespace headwise
