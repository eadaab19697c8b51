// How much of a tensor a set of boxes covers, in few enough words to fit a node of the graph.
#pragma once

#include <string>
#include <vector>

#include "core/trace/cell_provenance.h"

namespace headwise {

// "all", "row 8", "head 2 row 8", "rows 0–3", "rows 3, 6", "column 5", "1 cell"; "12 %" where none of these fits; empty
// where the boxes belong to other tensors. `brief`: of combined words only the row.
std::string reach_words(const Trace& trace, const std::vector<BoxRef>& boxes, TensorName tensor,
                        bool brief = false);

// The tensors that the boxes belong to, in the order of computation, gradients last.
std::vector<TensorName> tensors_reached(const std::vector<BoxRef>& boxes);

}  // namespace headwise
