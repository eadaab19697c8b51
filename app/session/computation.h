// Scenario → ScenarioInputs → Trace, sharing data with the previous computation.
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
  std::optional<Shortened> shortened;  // what it was computed from, where the text is too long to be shown
  double seconds = 0.0;                // compute time
};
using ComputationPtr = std::shared_ptr<const Computation>;

// With the reference backend in f32. If a text is too long, only its beginning is used, and inputs.notes say so. What
// `previous` (may be null) has in common is shared with it. Throws Error, and nothing but Error: running out of memory
// half-way is Error(memory).
ComputationPtr compute(const Scenario& scenario, const Computation* previous,
                       Index most_bytes = most_trace_bytes);

// About how many multiply-adds a Scenario costs when nothing can be shared, random numbers included; derived from its sizes
// alone, without allocating anything. Never negative; huge for huge sizes.
double estimated_work(const Scenario& scenario);
// Whether its parameters are those of a model that is trained when it is first read, and it has not been read
// yet (core/files/made_folders.h).
bool waits_for_model(const Scenario& scenario);
// Whether all of that is little enough to compute within a frame, with no model to be trained before it.
bool computes_at_once(const Scenario& scenario);

}  // namespace headwise
