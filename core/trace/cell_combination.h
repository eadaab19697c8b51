// How the sources of a cell are combined into its number, for each Combine.
#pragma once

#include "core/trace/cell_provenance.h"

namespace headwise {

// Adds to a provenance that already has its terms the constants its cell also depends on and the totals of
// its row: "scale", "row maximum", "Σ dP·P". Terms that contribute something other than the product of their
// factors get that value and a label (Term).
void add_quantities(const Trace& trace, CellProvenance& provenance);

}  // namespace headwise
