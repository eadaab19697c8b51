// The rows of the setup: each shows a part of the Scenario,
// and requests a new one while the user types or chooses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/setup_panel.h"
#include "app/panels/setup_settings.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_field.h"

namespace headwise {

inline constexpr std::array<std::string_view, 2> off_on{"off", "on"};

// As assets/words/settings.txt has it, except a name and letters that depend on more.
RowLabel setup_row(std::string_view id, std::string_view name = {}, std::string_view letters = {});

// One frame of the setup. The sections change scenario() through its rows, and name what they changed.
class SetupRows {
 public:
  SetupRows(const PanelContext& context, SetupState& state)
      : context_(context), widgets_(context.widgets()), state_(state), edited_(context.scenario) {}

  const PanelContext& context() const { return context_; }
  const WidgetContext& widgets() const { return widgets_; }
  SetupState& state() { return state_; }
  Scenario& scenario() { return edited_; }  // as requested, with this frame's changes
  bool changed() const { return changed_; }

  // The Scenario last requested through this row has no trace.
  bool is_wrong(const char* id) const { return !context_.error.empty() && state_.edited_row == id; }
  // Records this frame's request, from the row `id`. `continues`: typing, which merges into one undo step.
  void edited(const char* id, std::string label, bool continues);
  // The sentence below a row: first its own, then why its Scenario has no trace.
  void draw_errors(const char* id, const std::string& own);

  // Whether to draw a rarely used row. `unusual`: it has a value that the user should see.
  bool rare(const char* id, bool unusual);
  int left_out() const { return left_out_; }  // so far, in this frame

  void perform(CommandId command) { action_.command = command; }
  // Requests another place to look at; not an edit.
  void look(Selection selection) { action_.selection = std::move(selection); }

  // These request their edit themselves. `drag`: its drag_step, drag_least and drag_stops define the drag.
  // `refusal`: said in place of why the row's Scenario has no trace.
  FieldResult integer(const RowLabel& label, std::int64_t& value, FieldOptions drag = {},
                      const std::string& refusal = {});
  void optional_integer(const RowLabel& label, std::optional<std::int64_t>& value, const std::string& derived,
                        FieldOptions drag = {});
  // By its row of assets/words/settings.txt. `required`:
  // there is nothing that an empty one would derive from.
  void number(const SetupSetting& setting, std::optional<double>& value, const std::string& derived,
              bool required = false);
  void number(const SetupSetting& setting, double& value, const std::string& = {});
  // One number for all heads, or none; it replaces a list with one for each.
  void number(const SetupSetting& setting, std::vector<double>& numbers, const std::string& derived);
  TextFieldResult sentence(const RowLabel& label, std::string& text, std::span<const TextMark> marks = {});
  // True if the choice changed; the caller then makes the edit and names it.
  bool choice(const RowLabel& label, std::span<const std::string_view> labels, int& chosen);
  // The same for an enumeration, or for what is off or on, with its edit: `edit` and the label chosen.
  template <class Choice>
  bool choice(const RowLabel& label, std::span<const std::string_view> labels, Choice& value,
              const std::string& edit) {
    int chosen = static_cast<int>(value);
    if (!choice(label, labels, chosen)) return false;
    value = static_cast<Choice>(chosen);
    edited(label.id, edit + std::string(labels[static_cast<std::size_t>(chosen)]), false);
    return true;
  }
  // A row that does not apply keeps its place, so that no other row moves: its control is dim,
  // and the tooltip says why.
  void idle_choice(const RowLabel& label, std::span<const std::string_view> labels, int chosen);
  void idle_value(const RowLabel& label, std::string_view value);
  void idle_slider(const RowLabel& label, double value, std::string_view text, SliderOptions options);

  PanelAction take();

 private:
  const PanelContext& context_;
  WidgetContext widgets_;
  SetupState& state_;
  Scenario edited_;
  PanelAction action_;
  bool changed_ = false;
  int left_out_ = 0;
  std::string shown_error_;  // in this frame
};

// Up to 4096.
std::vector<std::int64_t> divisors_of(std::int64_t number);
// The possible numbers of key/value heads, from multi-query to multi-head: the divisors of H; for a model's
// layer, the one that its k and v rows allow.
std::vector<std::int64_t> group_choices(SetupRows& rows);

// How many entries a list for this size may have while the size is being typed.
std::size_t setup_list_size(std::int64_t size);

// The tooltip of a row that scaled_dot_product_attention does not have.
inline constexpr const char* not_in_sdpa =
    "scaled_dot_product_attention takes q, k and v per head, and returns each head's output: it has no "
    "projections, biases, concat or gains. Choose MHA at the top for this.";

// The sections, from top to bottom.
void draw_setup_operator(SetupRows& rows);
void draw_setup_text(SetupRows& rows);
void draw_setup_parameters(SetupRows& rows);
void draw_setup_mask(SetupRows& rows);
void draw_setup_head(SetupRows& rows);
void draw_setup_sizes(SetupRows& rows);
void draw_setup_scale(SetupRows& rows);

}  // namespace headwise
