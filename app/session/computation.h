// Scenario → ScenarioInputs → Trace, sharing with the computation before.
#pragma once

#include <memory>
#include <optional>

#include "app/session/text_room.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/trace/trace.h"

namespace headwise {

struct Computation {
  Scenario scenario;
  ScenarioInputs inputs;
  TracePtr trace;
  std::optional<Shortened> shortened;  // what it was made from, where the text is too long to be shown
  double seconds = 0.0;                // that it took
};
using ComputationPtr = std::shared_ptr<const Computation>;

// By the reference backend in f32. Of a text that is too long only the beginning is taken, and inputs.notes say so. What `previous` has in common is shared with it (it may be null). Throws
// Error, and nothing but Error: memory that runs out half-way is Error(memory).
ComputationPtr compute(const Scenario& scenario, const Computation* previous,
                       Index most_bytes = most_trace_bytes);

// About how many multiply-adds a Scenario costs when nothing can be shared, random numbers included; read off
// its sizes, without making anything. Never negative; huge for huge sizes.
double estimated_work(const Scenario& scenario);
// Whether that is little enough to be done within a frame.
bool computes_at_once(const Scenario& scenario);

}  // namespace headwise
