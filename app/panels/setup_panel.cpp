#include "app/panels/setup_panel.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/panels/named_text.h"
#include "app/panels/setup_rows.h"
#include "app/panels/setup_settings.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/model/layers/layer_parameters.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/join.h"

namespace headwise {

void SetupRows::edited(const char* id, std::string label, bool continues) {
  state_.edited_row = id;
  action_.edit_label = std::move(label);
  action_.edit_continues = continues;
  changed_ = true;
}

void SetupRows::draw_errors(const char* id, const std::string& own) {
  const std::string& message = own.empty() && is_wrong(id) ? context_.error : own;
  if (message.empty()) return;
  error_line(widgets_, message);
  shown_error_ = message;
  if (message == state_.shown_error) return;
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

void SetupRows::number(const SetupSetting& setting, std::vector<double>& numbers, const std::string& derived) {
  std::optional<double> one;
  if (numbers.size() == 1) one = numbers.front();
  const std::optional<double> before = one;
  number(setting, one, numbers.size() > 1 ? "by head" : derived);
  if (one == before) return;
  numbers.clear();
  if (one) numbers.push_back(*one);
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
  state_.shown_error = shown_error_;
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

namespace {

// What the user should know about the numbers shown: fully masked rows, text that was cut.
void draw_notes(const PanelContext& context) {
  std::vector<std::string> notes = context.inputs.notes;
  if (const ModelInput* const model = context.inputs.model_input.get()) {
    const std::vector<std::string>& under_text = model->text.notices;  // setup_text.cpp
    std::erase_if(notes, [&](const std::string& note) { return std::ranges::count(under_text, note) > 0; });
  }
  std::erase(notes, "num_heads: " + context.inputs.head_count_note);  // setup_sizes.cpp
  notes.insert(notes.end(), context.trace.warnings.begin(), context.trace.warnings.end());
  if (notes.empty()) return;
  section_caption(context, "PLEASE NOTE");
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < std::min(notes.size(), most); ++i) warning_line(context, notes[i]);
  if (notes.size() > most) dim_text(context, fmt::format("… and {} more", notes.size() - most));
}

// What no row shows: cells set by hand, pairs painted.
void draw_edits(SetupRows& rows) {
  const std::size_t count = rows.scenario().edits.size();
  if (count == 0) return;
  section_caption(rows.widgets(), "SET BY HAND");
  constexpr std::array<std::string_view, 2> ways{"keep", "discard"};
  int chosen = 0;
  const std::string name = counted(static_cast<Index>(count), "cell");
  if (rows.choice({"setup/edits", name, "", "Numbers set by hand and painted pairs of the mask."}, ways,
                  chosen)) {
    rows.scenario().edits.clear();
    rows.edited("setup/edits", "discard manual edits", false);
  }
}

// "6 more settings"
void draw_more(SetupRows& rows) {
  SetupState& state = rows.state();
  if (!state.compact || (rows.left_out() == 0 && !state.all_rows)) return;
  const std::string words =
      state.all_rows ? "fewer settings" : fmt::format("{} more settings …", rows.left_out());
  if (text_button(rows.widgets(), "setup/more", words, ButtonLook::plain)) {
    state.all_rows = !state.all_rows;
    state.kept_rows.clear();
  }
  std::string hidden =
      "num_kv_heads and head_dim as numbers, ALiBi, the values of blocked scores and of fully masked rows, "
      "how masks are written";
  for (const SetupSetting& setting : all_setup_settings())
    if (setting.rare) hidden += ", " + std::string(setting.name);
  named_item(rows.widgets(), "setup/more", hidden);
}

// A row requested by name is shown, whether rarely used or not.
void show_wanted_row(const PanelContext& context, SetupState& state) {
  if (!context.focus || !context.focus->enabled) return;  // the dialog that requested it is still closing
  const std::string row = std::exchange(state.wanted_row, "");
  if (row.empty()) return;
  state.kept_rows.insert(row);
  if (row == "setup/builder") state.builder.open = true;
  take_focus(*context.focus, setup_control(row));
  context.focus->moved = true;
  if (std::exchange(state.wanted_whole, false)) context.focus->cursor = {std::string::npos, 0};
}

}  // namespace

PanelAction draw_setup_panel(const PanelContext& context, SetupState& state) {
  work_probe("setup");
  const RowLettersInUse letters(
      [&](ImVec2 at, std::string_view text) {
        return draw_shape_text(context, context.fonts.sans, at, context.palette.text_dim, std::string(text));
      },
      setup_key);
  constexpr float roomy_height = 860.0f;  // design units: from here on all rows are shown
  state.compact = ImGui::GetWindowHeight() < roomy_height * context.scale;
  show_wanted_row(context, state);
  SetupRows rows(context, state);
  draw_setup_operator(rows);
  draw_setup_text(rows);
  draw_setup_parameters(rows);
  draw_setup_mask(rows);
  draw_setup_head(rows);
  draw_setup_sizes(rows);
  draw_setup_scale(rows);
  draw_more(rows);
  draw_edits(rows);
  draw_notes(context);
  state.overflows = ImGui::GetScrollMaxY() > 0.0f;
  return rows.take();
}

}  // namespace headwise
