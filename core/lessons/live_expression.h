// Expressions of live numbers: what follows "=" in braces, and the conditions of a text's parts.
//
//   max attn_weights[0,0,8,:] > 0.9 and attention.scale = 1
//   not (H = G) or deviation scores ≈ √D * deviation scaled_scores
//   parameters.source = 'hand_made'
//   query 8 = 'it'
//
// In order of increasing precedence: or; and; not; = ≠ < ≤ > ≥ ≈ (!= <= >= ~ too); + -; * /; - √. Values are
// numbers, inf, nan, words in single quotes (true, false and null need none) and the quantities of
// core/lessons/live_value.h. "≈" holds within a thousandth of the larger; nan = nan holds,
// and so does inf = inf.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lessons/live_value.h"

namespace headwise {

struct LiveExpression {
  // number, word, quantity; negative, √, + - * /; = ≠ < ≤ > ≥ ≈; not, and, or
  std::string operation;
  std::vector<LiveExpression> operands;
  double number = 0.0;
  std::string word;
  LiveQuantity quantity;
};

// Appends the quantities that it reads, each once.
void add_quantities(const LiveExpression& expression, std::vector<LiveQuantity>& found);

// Reads one from the front of `text` and removes it. Throws Error(usage) like read_live_quantity.
LiveExpression read_live_expression(std::string_view& text);

// The value of an arithmetic expression; missing if one of its numbers is.
LiveValue live_value(const LiveExpression& expression, const LiveSubject& subject,
                     LiveAnswers answers = LiveAnswers::all);

// Whether a condition holds; nullopt if it depends on a missing number.
std::optional<bool> live_truth(const LiveExpression& condition, const LiveSubject& subject,
                               LiveAnswers answers = LiveAnswers::all);

// Whether a condition holds. If it needs a missing number, neither it nor its opposite holds.
bool holds(const LiveExpression& condition, const LiveSubject& subject, LiveAnswers answers = LiveAnswers::all);

// Expressions with a box of several cells, evaluated cell by cell: "attn_weights[0,0,8,:]" stands for each
// number of that row in turn, and "mask_bias[0,0,:,:] = -inf" holds for some pairs and not for others.

struct LiveCells {
  TensorName tensor;    // of the first such box
  LiveCellRange cells;  // its cells
  // one for each of them, row-major: the expression with that cell's numbers
  std::vector<LiveExpression> values;
  std::string problem;  // if there are none: why, without a full stop

  // Axes along which there is more than one cell.
  std::vector<std::size_t> axes() const;
  Index size(std::size_t axis) const { return cells.to[axis] - cells.from[axis]; }
};

// Several such boxes in one expression need the same number of cells, which are paired in their order, and
// none of the numbers may be NaN. What does not depend on a cell (a sum, a size) stays as it is.
// At most `most` cells.
LiveCells live_cells(const LiveExpression& expression, const LiveSubject& subject, Index most);

// Whether an expression has a box that may have several cells, whatever the trace: "q[0,8,:]", "q",
// not "q[0,8,-1]".
bool has_cells(const LiveExpression& expression);

}  // namespace headwise
