// Everything that a cell depends on, back to the inputs and the parameters, and everything that depends on
// it, up to the output: the rules followed step by step, as boxes.
#pragma once

#include <vector>

#include "core/attention/cell_provenance.h"

namespace headwise {

// Adds a box to boxes that together are a set of cells: does nothing if one of them already contains it, and
// merges boxes that form a larger one. True if a cell was added.
bool add_box(std::vector<BoxRef>& boxes, BoxRef box);

struct CellReach {
  CellRef cell;
  std::vector<BoxRef> back;     // what it was computed from, directly or not; without the cell itself
  std::vector<BoxRef> forward;  // what is computed from it, directly or not
};

// A cell of a value leads only to values: cell_consumers says which gradients read it. Throws Error(usage) if
// the trace has no such tensor or the index is out of range.
CellReach cell_reach(const Trace& trace, TensorName tensor, const std::vector<Index>& index);

// How many cells of a tensor lie in those boxes that belong to it, each counted once.
Index cells_covered(const std::vector<BoxRef>& boxes, TensorName tensor);

}  // namespace headwise
