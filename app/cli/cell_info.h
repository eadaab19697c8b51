// What `headwise info SCENARIO --cell` reports, and what compare says of the number that differs: where it
// comes from.
#pragma once

#include "app/cli/report.h"
#include "app/cli/trace_request.h"
#include "core/attention/cell_provenance.h"

namespace headwise {

// "scores[0,0,8,1]", as in formulas.
std::string cell_text(const CellRef& cell);

// The formula of a cell, its quantities, its largest terms and the note; `whose` is the word
// before the formula.
std::string provenance_text(const Trace& trace, const CellProvenance& cell, std::string_view whose);

// The cell named as in formulas, of the request's run: its value, formula, quantities, all terms, the boxes
// that it is computed from and those that it feeds. In JSON numbers that are not finite are text
// (number_json). Throws Error(usage) for what is no cell of the run, and as compute_trace does.
Report cell_info(TraceRequest request, const std::string& cell);

}  // namespace headwise
