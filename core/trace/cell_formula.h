// A cell's rule as a line of text with its real indices.
#pragma once

#include <string>

#include "core/trace/cell_provenance.h"

namespace headwise {

// "scores[0,0,8,1] = Σ_d q_heads[0,0,8,d] · k_heads[0,0,1,d]". `provenance` is complete except for its
// formula and note.
std::string cell_formula(const Trace& trace, const Rule& rule, const CellProvenance& provenance);

// A number for a formula: six digits, "−0.25", "−∞", "NaN".
std::string number_text(double value);

}  // namespace headwise
