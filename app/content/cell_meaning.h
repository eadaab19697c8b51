// What a number says, in words: how a learner would read it out.
#pragma once

#include <string>

#include "core/scenario/scenario_inputs.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

// One sentence with the words that stand at its row and column: what a score compares, what a mask blocks, how much of its
// attention a token gives to another, of what a head's output is mixed, which head wrote a column of concat. Empty where
// there is nothing to say beyond the formula: parameters, gradients, weights that are no shares (NaN, or a frozen head's).
std::string cell_meaning(const Trace& trace, const TokenLabels& labels, const CellRef& cell);

}  // namespace headwise
