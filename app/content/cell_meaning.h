// What a number means, in words: how a learner would read it out.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario_inputs.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

// One sentence naming the tokens of the cell's row and column: what a score compares, what a mask blocks, how
// much of its attention one token gives another, what a head's output is mixed from, which head wrote a
// column of concat. Empty where there is nothing to add to the formula: parameters, gradients, weights that
// are not shares (NaN, or a frozen head's).
std::string cell_meaning(const Trace& trace, const TokenLabels& labels, const CellRef& cell);

// How much of a tensor a set of boxes covers, in few enough words to fit a node of the graph.

// "all", "row 8", "head 2 row 8", "rows 0–3", "rows 3, 6", "column 5", "1 cell"; "12 %" where none of these
// fits; empty where the boxes belong to other tensors. `brief`: of combined words only the row.
std::string reach_words(const Trace& trace, const std::vector<BoxRef>& boxes, TensorName tensor,
                        bool brief = false);

// The tensors that the boxes belong to, in the order of computation, gradients last.
std::vector<TensorName> tensors_reached(const std::vector<BoxRef>& boxes);

}  // namespace headwise
