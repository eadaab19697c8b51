// Expressions with a box of several cells, evaluated cell by cell: "attn_weights[0,0,8,:]" stands for each number of that row
// in turn, and "mask_bias[0,0,:,:] = -inf" holds for some pairs and not for others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/answers/live_expression.h"

namespace headwise {

struct LiveCells {
  TensorName tensor;                   // of the first such box
  LiveCellRange cells;                 // its cells
  std::vector<LiveExpression> values;  // one for each of them, row-major: the expression with that cell's numbers
  std::string problem;                 // if there are none: why, without a full stop

  // Axes along which there is more than one cell.
  std::vector<std::size_t> axes() const;
  Index size(std::size_t axis) const { return cells.to[axis] - cells.from[axis]; }
};

// Several such boxes in one expression need the same number of cells, which are paired in their order, and none of the
// numbers may be NaN. What does not depend on a cell (a sum, a size) stays as it is. At most `most` cells.
LiveCells live_cells(const LiveExpression& expression, const LiveSubject& subject, Index most);

// Whether an expression has a box that may have several cells, whatever the trace: "q[0,8,:]", "q", not "q[0,8,-1]".
bool has_cells(const LiveExpression& expression);

}  // namespace headwise
