// Rows of the setup: a name with its letter on the left, a control on the right and, if the typed text is
// invalid, one sentence below.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/widgets/controls.h"
#include "app/widgets/painter.h"

namespace headwise {

struct RowLabel {
  const char* id;            // of the control; tests find it by this name
  std::string_view name;     // "embed_dim"
  std::string_view letters;  // dim after it: "E"
  std::string_view tooltip;  // what it is, its formula or shape
};

// Draws the letters after a row's name, if they are more than text; true while the mouse is on one of them
// and its tooltip replaces the row's.
using RowLetters = std::function<bool(ImVec2 at, std::string_view letters)>;
// The key of a row's value in a scenario file, "mask.value", by the row's id; empty: it has none. It is named
// in the tooltip and, where its last part is not the row's name and there is room,
// written dim beside the name.
using RowKeys = std::function<std::string_view(std::string_view id)>;
// Every row drawn while this lives draws its letters this way and has these keys.
class RowLettersInUse {
 public:
  explicit RowLettersInUse(RowLetters letters, RowKeys keys = {});
  ~RowLettersInUse();
  RowLettersInUse(const RowLettersInUse&) = delete;
  RowLettersInUse& operator=(const RowLettersInUse&) = delete;

 private:
  RowLetters letters_;
  RowKeys keys_;
  const RowLetters* before_;
  const RowKeys* keys_before_;
};

// "SIZES": a caption with space above it.
void section_caption(const WidgetContext& context, std::string_view caption);

struct FieldOptions {
  float width = 0.0f;             // design units; 0: default
  std::string_view derived = {};  // shown dim if there is no value: the value derived from the rest
  bool wrong = false;             // the scenario with this value has no trace
  bool read_only = false;
  bool required = false;                        // an empty field is an error
  std::optional<double> least = {}, most = {};  // numbers beyond these are as invalid as "abc"
  // Dragging to the right increases the number: by this much for every few pixels, or on to the next of these
  // numbers (ascending) if given.
  double drag_step = 1.0;
  double drag_least = 0.0, drag_most = 1e6;
  std::span<const std::int64_t> drag_stops = {};
};

struct FieldResult {
  bool changed = false;  // `value` has changed
  bool focused = false;
  std::string error;  // the typed text is not a valid number; `value` is unchanged
};

// An integer, a number, or none. While it has the focus, the field keeps the typed text,
// character for character.
FieldResult integer_row(const WidgetContext& context, const RowLabel& label,
                        std::optional<std::int64_t>& value, const FieldOptions& options = {});
FieldResult number_row(const WidgetContext& context, const RowLabel& label, std::optional<double>& value,
                       const FieldOptions& options = {});
// True if another one was chosen. `least_width`: in design units, of the control.
bool choice_row(const WidgetContext& context, const RowLabel& label, std::span<const std::string_view> labels,
                int& chosen, bool enabled = true, float least_width = 0.0f);
// The same for an enumeration, or for what is off or on.
template <class Choice>
bool choice_row(const WidgetContext& context, const RowLabel& label, std::span<const std::string_view> labels,
                Choice& value) {
  int chosen = static_cast<int>(value);
  const bool changed = choice_row(context, label, labels, chosen);
  if (changed) value = static_cast<Choice>(chosen);
  return changed;
}

// A slider followed by its value, as `text`.
SliderResult slider_row(const WidgetContext& context, const RowLabel& label, double& value,
                        std::string_view text, SliderOptions options);

// A sentence in the error colour, wrapped.
void error_line(const WidgetContext& context, std::string_view sentence);
// The same in the colour of warnings; of captions; and of captions at the size of the rows.
void warning_line(const WidgetContext& context, std::string_view sentence);
void dim_text(const WidgetContext& context, std::string_view text);
void dim_sentence(const WidgetContext& context, std::string_view sentence);

}  // namespace headwise
