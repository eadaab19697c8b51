// A column of text as the inspector needs it: headings, paragraphs, formulas, rows of name and number, boxes
// of code. Each call draws at the cursor of the current ImGui window and moves it down.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/widgets/painter.h"

namespace headwise {

enum class FormulaHue { plain, q, k, v };

struct FormulaRun {
  std::string text;
  FormulaHue hue = FormulaHue::plain;
  bool subscript = false;
  bool breaks = false;  // a space: a line may end here
  friend bool operator==(const FormulaRun&, const FormulaRun&) = default;
};

std::vector<FormulaRun> formula_runs(std::string_view formula);

// Called for each run drawn, with its position on the screen.
using FormulaRunSeen = std::function<void(const FormulaRun& run, ImVec2 min, ImVec2 max)>;

// Draws it at `at`, in lines of at most `width` pixels; returns the height of all lines.
// `list` null: measures only.
float draw_formula(const Painter& paint, ImVec2 at, float width, std::string_view formula, ImFont* font,
                   const FormulaRunSeen& seen = {});
// Width of the formula in one line.
float formula_width(std::string_view formula, ImFont* font);

class TextColumn {
 public:
  explicit TextColumn(const WidgetContext& context);

  float width() const { return width_; }
  void space(float units);
  // "THIS CELL": small, dim, followed by what is special about it, "PINNED".
  void heading(std::string_view text);
  void paragraph(std::string_view text, Rgba8 color);
  void paragraph(std::string_view text) { paragraph(text, context_.palette.text); }
  // Large if `large` and it fits on one line, else in lines of ordinary size. `seen` as in draw_formula.
  void formula(std::string_view text, bool large = true, const FormulaRunSeen& seen = {});
  // Name left, number right in mono, followed by a dim remark.
  void row(std::string_view name, std::string_view number, std::string_view remark = {});
  // Lines of code and comments in a box; a click copies the code. True in the frame in which it was copied.
  struct Line {
    std::string text;
    bool comment = false;
  };
  // `word` receives the identifier in the code under the mouse.
  bool code(const char* id, const std::vector<Line>& lines, std::string* word = nullptr);
  // A name that links somewhere: mono, underlined, brighter under the mouse; `told` is its tooltip. Enter
  // activates it too while it has the focus.
  struct Link {
    bool clicked = false, hovered = false;
  };
  Link link(const char* id, std::string_view text, Rgba8 color, std::string_view tip = {});

  // The upper left corner of the next line on the screen, and the line height of ImGui's items.
  ImVec2 cursor() const;
  void skip(float pixels);

 private:
  WidgetContext context_;
  float width_;
};

// Lines of at most `columns` characters, broken after a space, comma or bracket, or before a dot;
// continuation lines are indented by two.
std::vector<std::string> wrapped_code(const std::string& line, std::size_t columns);

}  // namespace headwise
