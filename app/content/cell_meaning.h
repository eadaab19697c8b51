// What a number means, in words: how a learner would read it out.
#pragma once

#include <string>

#include "core/scenario/scenario_inputs.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

// One sentence naming the tokens of the cell's row and column: what a score compares, what a mask blocks, how much of its
// attention one token gives another, what a head's output is mixed from, which head wrote a column of concat. Empty where
// there is nothing to add to the formula: parameters, gradients, weights that are not shares (NaN, or a frozen head's).
std::string cell_meaning(const Trace& trace, const TokenLabels& labels, const CellRef& cell);

}  // namespace headwise
