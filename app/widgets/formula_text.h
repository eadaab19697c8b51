// Formulas as the steps write them, "scoresₕ = Qₕ Kₕᵀ", cut into runs: what belongs to q, k or v gets its
// hue, and W_q a real subscript.
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

}  // namespace headwise
