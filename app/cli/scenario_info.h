// What `headwise info` reports about a scenario: its sizes, parameters, products and memory, and computed
// answers to questions that learners argue about.
#pragma once

#include "app/cli/report.h"
#include "app/cli/trace_request.h"

namespace headwise {

// Prints the warnings. Throws as compute_trace does, but a trace that does not fit is reported as
// "not_computed". Numbers that are not finite are null in JSON, which has none.
Report scenario_info(const TraceRequest& request);

}  // namespace headwise
