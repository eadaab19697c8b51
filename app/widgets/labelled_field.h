// Rows of the setup: a name with its letter at the left, a control at the right, and, where what was typed
// makes no sense, one sentence under it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/widgets/slider.h"
#include "app/widgets/widget_context.h"

namespace headwise {

struct RowLabel {
  const char* id;            // of the control; tests find it by this name
  std::string_view name;     // "embed_dim"
  std::string_view letters;  // dim behind it: "E"
  std::string_view tooltip;  // what it is, its formula or shape
};

// Draws the letters behind the name of a row, where they are more than text; true while the mouse is on one of them and its
// tooltip takes the place of the row's.
using RowLetters = std::function<bool(ImVec2 at, std::string_view letters)>;
// Every row that is drawn while this lives draws its letters so.
class RowLettersInUse {
 public:
  explicit RowLettersInUse(RowLetters letters);
  ~RowLettersInUse();
  RowLettersInUse(const RowLettersInUse&) = delete;
  RowLettersInUse& operator=(const RowLettersInUse&) = delete;

 private:
  RowLetters letters_;
  const RowLetters* before_;
};

// "SIZES": a caption with room above it.
void section_caption(const WidgetContext& context, std::string_view caption);

struct FieldOptions {
  float width = 0.0f;             // design units; 0: as usual
  std::string_view derived = {};  // shown dim where there is no value: what follows from the rest
  bool wrong = false;             // the scenario with this value has no trace
  bool read_only = false;
  bool required = false;                   // an empty field is an error
  std::optional<std::int64_t> least = {};  // smaller numbers are none, as "abc" is none
  // A drag to the right makes the number larger: by this much for each few pixels, or on to the next of these
  // numbers (rising) where there are any.
  double drag_step = 1.0;
  double drag_least = 0.0, drag_most = 1e6;
  std::span<const std::int64_t> drag_stops = {};
};

struct FieldResult {
  bool changed = false;  // `value` has another value now
  bool focused = false;
  std::string error;  // what is typed is no such number; `value` is as before
};

// A whole number, a number, or none. While it has the focus, the field keeps what is typed, character for
// character.
FieldResult integer_row(const WidgetContext& context, const RowLabel& label,
                        std::optional<std::int64_t>& value, const FieldOptions& options = {});
FieldResult number_row(const WidgetContext& context, const RowLabel& label, std::optional<double>& value,
                       const FieldOptions& options = {});
// True where another one was chosen.
bool choice_row(const WidgetContext& context, const RowLabel& label, std::span<const std::string_view> labels,
                int& chosen, bool enabled = true);

// A slider with its value, as `text`, behind it.
SliderResult slider_row(const WidgetContext& context, const RowLabel& label, double& value,
                        std::string_view text, SliderOptions options);

// A sentence in the colour of errors, wrapped.
void error_line(const WidgetContext& context, std::string_view sentence);
// The same in the colour of warnings; of captions; and of captions in the size of the rows.
void warning_line(const WidgetContext& context, std::string_view sentence);
void dim_text(const WidgetContext& context, std::string_view text);
void dim_sentence(const WidgetContext& context, std::string_view sentence);

}  // namespace headwise
