// Holds a trace to its own provenance, cell by cell: for tests of rules.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/attention/cell_provenance.h"

namespace headwise::test {

// All tensors of the trace, the gradients of a backward pass behind them.
std::vector<TensorName> tensors_of(const Trace& trace);

// The first cell whose number does not follow from its rule alone (to 1e-12; NaN agrees with NaN), with both
// numbers; empty where there is none. Of one rule, or of every tensor of the trace.
std::string first_unexplained(const Trace& trace, const Rule& rule);
std::string first_unexplained(const Trace& trace);

// Whether recomputing from a rule shows that it is wrong: another number somewhere, or a cell that does not
// exist.
bool is_caught(const Trace& trace, const Rule& rule);

// The first cell whose `sources` are not exactly the cells of its terms; empty where there is none.
std::string first_wrong_box(const Trace& trace);

// All (source, result) pairs of the trace, sorted: once by asking every result for its sources and once by
// asking every cell for its consumers. A cell of any tensor is one number.
using Cell = std::uint64_t;
using Pairs = std::vector<std::pair<Cell, Cell>>;
Pairs pairs_from_sources(const Trace& trace);
Pairs pairs_from_consumers(const Trace& trace);

// All cells that lie in one of the boxes, sorted, each once.
std::vector<Cell> cells_in(const Trace& trace, const std::vector<BoxRef>& boxes);

// The first cell, of every `stride`-th, whose reach (cell_reach.h) is not exactly what following
// `pairs` from cell to cell finds; empty where there is none.
std::string first_wrong_reach(const Trace& trace, const Pairs& pairs, Index stride);

}  // namespace headwise::test
