// All that a cell depends on, back to the inputs and the parameters, and all that depends on it, on to the output: the
// rules followed step after step (core/trace/box_maps.h), as boxes.
#pragma once

#include <vector>

#include "core/trace/cell_provenance.h"

namespace headwise {

struct CellReach {
  CellRef cell;
  std::vector<BoxRef> back;     // what it was made from, directly or not; without the cell itself
  std::vector<BoxRef> forward;  // what is made from it, directly or not
};

// A cell of a value leads on to values only: which gradients read it is another question (cell_consumers). Throws
// Error(usage) where the trace has no such tensor or the index is outside.
CellReach cell_reach(const Trace& trace, TensorName tensor, const std::vector<Index>& index);

// How many cells of a tensor lie in the boxes that are of it, each counted once.
Index cells_covered(const std::vector<BoxRef>& boxes, TensorName tensor);

}  // namespace headwise
