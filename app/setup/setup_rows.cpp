#include "app/setup/setup_rows.h"

#include <algorithm>
#include <utility>

#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/model/layers/layer_parameters.h"
#include "core/scenario/layer_scenario.h"

namespace headwise {

void SetupRows::edited(const char* id, std::string label, bool continues) {
  state_.edited_row = id;
  action_.edit_label = std::move(label);
  action_.edit_continues = continues;
  changed_ = true;
}

void SetupRows::draw_errors(const char* id, const std::string& own) {
  const std::string& told = own.empty() && is_wrong(id) ? context_.error : own;
  if (told.empty()) return;
  error_line(widgets_, told);
  told_error_ = told;
  if (told == state_.told_error) return;
  // A new sentence is made fully visible, even where the panel ends in the middle of it.
  const ImVec2 origin = ImGui::GetWindowPos();
  const float foot = ImGui::GetItemRectMax().y + widgets_.px(6);
  if (foot > origin.y + ImGui::GetWindowHeight()) ImGui::SetScrollFromPosY(foot - origin.y, 1.0f);
}

bool SetupRows::rare(const char* id, bool unusual) {
  if (!state_.compact || state_.all_rows) return true;
  // Rows shown stay, so that no row disappears under the mouse that makes its value usual again.
  if (unusual || is_wrong(id)) state_.kept_rows.insert(id);
  const bool kept = state_.kept_rows.contains(id);
  if (!kept) ++left_out_;
  return kept;
}

FieldResult SetupRows::integer(const RowLabel& label, std::int64_t& value, FieldOptions drag,
                               const std::string& refusal) {
  std::optional<std::int64_t> typed = value;
  drag.wrong = is_wrong(label.id);
  drag.required = true;
  const FieldResult field = integer_row(widgets_, label, typed, drag);
  if (field.changed && typed) {
    value = *typed;
    edited(label.id, std::string(label.name), true);
  }
  draw_errors(label.id, field.error.empty() && is_wrong(label.id) ? refusal : field.error);
  return field;
}

void SetupRows::optional_integer(const RowLabel& label, std::optional<std::int64_t>& value,
                                 const std::string& derived, FieldOptions drag) {
  drag.derived = derived;
  drag.wrong = is_wrong(label.id);
  const FieldResult field = integer_row(widgets_, label, value, drag);
  if (field.changed) edited(label.id, std::string(label.name), true);
  draw_errors(label.id, field.error);
}

RowLabel setup_row(std::string_view id, std::string_view name, std::string_view letters) {
  const SetupSetting& setting = setup_setting(id);
  return {setting.id.c_str(), name.empty() ? setting.name : name, letters.empty() ? setting.letters : letters,
          setting.tooltip};
}

void SetupRows::number(const SetupSetting& setting, std::optional<double>& value, const std::string& derived,
                       bool required) {
  const char* const id = setting.id.c_str();
  const FieldResult field = number_row(widgets_, setup_row(id), value,
                                       {.derived = derived,
                                        .wrong = is_wrong(id),
                                        .required = required,
                                        .drag_step = setting.drag_step,
                                        .drag_least = setting.drag_least,
                                        .drag_most = setting.drag_most});
  if (field.changed) edited(id, std::string(setting.name), true);
  draw_errors(id, field.error);
}

void SetupRows::number(const SetupSetting& setting, double& value, const std::string&) {
  std::optional<double> typed = value;
  number(setting, typed, "", true);
  value = typed.value_or(value);
}

TextFieldResult SetupRows::sentence(const RowLabel& label, std::string& text, std::span<const TextMark> marks) {
  const TextFieldResult field = text_field(widgets_, label.id, text,
                                           {.lines = 5,
                                            .enter_ends = true,
                                            .wrong = is_wrong(label.id),
                                            .placeholder = "type a sentence",
                                            .marks = marks});
  ui_probe_item(label.id);
  if (field.mark)
    tooltip_at_once(widgets_, marks[*field.mark].what);
  else if (!field.focused)  // it would cover the typed text
    tooltip(widgets_, label.tooltip);
  if (field.changed) edited(label.id, std::string(label.name), true);
  if (field.entered && widgets_.focus) release_focus(*widgets_.focus);
  draw_errors(label.id, "");
  return field;
}

bool SetupRows::choice(const RowLabel& label, std::span<const std::string_view> labels, int& chosen) {
  const bool changed = choice_row(widgets_, label, labels, chosen);
  draw_errors(label.id, "");
  return changed;
}

void SetupRows::idle_choice(const RowLabel& label, std::span<const std::string_view> labels, int chosen) {
  choice_row(widgets_, label, labels, chosen, false);
  draw_errors(label.id, "");
}

void SetupRows::idle_value(const RowLabel& label, std::string_view value) {
  std::optional<double> none;
  number_row(widgets_, label, none, {.derived = value, .read_only = true});
}

void SetupRows::idle_slider(const RowLabel& label, double value, std::string_view text, SliderOptions options) {
  options.enabled = false;
  slider_row(widgets_, label, value, text, options);
}

PanelAction SetupRows::take() {
  state_.told_error = told_error_;
  if (changed_) action_.scenario = std::move(edited_);
  return std::move(action_);
}

std::size_t setup_list_size(std::int64_t size) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(size, 1, 100'000));
}

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d <= std::min<std::int64_t>(number, 4096); ++d)
    if (number % d == 0) all.push_back(d);
  return all;
}

std::vector<std::int64_t> group_choices(SetupRows& rows) {
  const std::int64_t heads = rows.scenario().attention.num_heads;
  const std::shared_ptr<const AttentionLayer>& layer = rows.context().inputs.layer;
  if (layer && is_of_model(rows.scenario()))
    if (const auto choice = choice_of_heads(*layer, heads)) return {choice->num_kv_heads};
  return divisors_of(heads);
}

}  // namespace headwise
