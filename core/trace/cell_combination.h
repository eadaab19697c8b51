// How the sources of a cell make its number, one Combine after the other.
#pragma once

#include "core/trace/cell_provenance.h"

namespace headwise {

// Adds to a provenance that has its terms the constants that its cell is made with besides them, and what a
// row comes to: "scale", "row maximum", "Σ dP·P". Terms that count as something else than the product of
// their factors get that value and a label (Term).
void add_quantities(const Trace& trace, CellProvenance& provenance);

}  // namespace headwise
