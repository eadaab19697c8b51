#include "app/training/training_changes_row.h"

#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cfloat>
#include <string>
#include <vector>

#include "app/panels/overlay.h"
#include "app/training/training_plot.h"
#include "app/training/training_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr std::string_view row_words = "Change one thing and train it beside:";
constexpr float answer_gap = 2.0f;  // design units
constexpr std::string_view more_words = "another change", one_word = "Remove the change";
// As buttons, in this order, as far as there is room; the list has all of them.
constexpr std::array buttons{TrainingChange::one_wide_head,  TrainingChange::no_scale,
                             TrainingChange::equal_heads,    TrainingChange::no_positions,
                             TrainingChange::no_causal_mask, TrainingChange::no_out_projection,
                             TrainingChange::one_key_head,   TrainingChange::high_learning_rate};

// The last button: in the colour of the second run.
void mark_as_trained(const PanelContext& context) {
  context.painter().outline(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), color_of_run(context.palette, 1),
                            context.px(2) * context.palette.stroke, context.px(4));
  ui_probe_item("training/chosen_change");
}

// What the change did, each in lines of that width.
std::vector<std::string> paragraphs(const PanelContext& context, const LiveTraining& training, float width) {
  std::vector<std::string> all{training.answer()->verdict};
  for (const std::string& reason : training.answer()->reasons) all.push_back(reason);
  for (std::string& each : all) each = with_line_breaks(each, context.fonts.small, width);
  return all;
}

}  // namespace

ChangesRowAction draw_training_changes(const PanelContext& context, const LiveTraining& training,
                                       TrainingViewState& state, const RectF& area) {
  ChangesRowAction action;
  ImFont* font = context.fonts.small;
  const TrainingSettings& settings = training.runs().front().settings;
  context.painter().say(font, {float(area.x), float(area.y) + context.px(5)}, context.palette.text_dim,
                        std::string(row_words));
  const float gap = context.px(6);
  float x = float(area.x) + width_of(font, row_words) + context.px(10);
  const float padding = context.px(22);  // of a button around its label, and a little more
  const bool beside = training.runs().size() > 1;
  const float list_width = drop_down_size(context, std::string(more_words)).x;
  const float end = float(area.x + area.width) - list_width -
                    (beside ? width_of(font, one_word) + padding + gap : 0.0f) - gap;
  for (const TrainingChange change : buttons) {
    if (!changed_settings(settings, change)) continue;
    const TrainingChangeEntry& entry = training_change_entry(change);
    const float width = width_of(context.fonts.sans, entry.label) + padding;
    if (x + width > end) continue;
    ImGui::SetCursorScreenPos({x, float(area.y)});
    const bool chosen = beside && training.runs()[1].change == change;
    const std::string name(entry.name);
    if (text_button(context, name.c_str(), entry.label)) action.begin = change;
    ui_probe_item("training/change/" + name);
    if (chosen) mark_as_trained(context);
    tooltip(context, entry.question);
    x = ImGui::GetItemRectMax().x + gap;
  }
  ImGui::SetCursorScreenPos({x, float(area.y)});
  DropDownGroup all;
  for (const TrainingChangeEntry& entry : training_change_entries())
    if (changed_settings(settings, entry.change)) all.words.emplace_back(entry.label);
  const DropDownResult chosen =
      drop_down(context, "training/changes", std::string(more_words), std::span(&all, 1), state.changes);
  x = ImGui::GetItemRectMax().x + gap;
  if (chosen.chosen)
    for (const TrainingChangeEntry& entry : training_change_entries())
      if (entry.label == *chosen.chosen) action.begin = entry.change;
  if (!beside) return action;
  ImGui::SetCursorScreenPos({x, float(area.y)});
  action.end = text_button(context, "alone", one_word);
  named_item(context, "training/alone",
             "Shows the first model alone. The changed one goes on with its steps when you choose the change "
             "again.");
  return action;
}

float change_answer_height(const PanelContext& context, const LiveTraining& training, float width) {
  if (!training.answer()) return 0.0f;
  const ImFont* font = context.fonts.small;
  const float between = context.px(answer_gap) + 2.0f * ImGui::GetStyle().ItemSpacing.y;
  float height = 0.0f;
  for (const std::string& paragraph : paragraphs(context, training, width))
    height += font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, paragraph.c_str()).y + between;
  return height;
}

void draw_change_answer(const PanelContext& context, const LiveTraining& training, const RectF& area) {
  ImGui::SetCursorScreenPos(corner(area));
  // Each answer begins at its top.
  ImGui::BeginChild(fmt::format("answer {} {}", training.number(), training.step()).c_str(),
                    {float(area.width), float(area.height)});
  ImGui::PushFont(context.fonts.small);
  scroll_by_keys(context);
  if (training.runs().front().losses_from > 0) {
    dim_sentence(
        context,
        "What the change did is not known: the folder of this training has no curve.csv with the losses of "
        "its first steps.");
  } else if (!training.answer()) {
    dim_sentence(context, "To see here what the change did, pause (Space) when both are at the same step.");
  } else {
    const ImVec2 begin = ImGui::GetCursorScreenPos();
    for (const std::string& paragraph : paragraphs(context, training, ImGui::GetContentRegionAvail().x)) {
      ImGui::TextUnformatted(paragraph.c_str());
      ImGui::Dummy({1, context.px(answer_gap)});
    }
    ui_probe("training/answer_words", begin, ImGui::GetItemRectMax());
  }
  ImGui::PopFont();
  ImGui::EndChild();
  ui_probe(training.answer() ? "training/answer" : "training/no_answer", area);
}

}  // namespace headwise
