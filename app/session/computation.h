// Scenario → ScenarioInputs → Trace, sharing data with the previous computation.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/attention/trace.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// Bytes that the trace of one Scenario in the window may take, whose maps grow with L·S: anything larger is
// unreadable as a picture and slow to respond. Less if less memory is available.
inline constexpr Index most_trace_bytes = Index{1} << 30;

// About how many bytes a trace of these lengths takes; never overflows.
double estimated_trace_bytes(const Scenario& scenario, Index query_length, Index key_length);

struct Shortened {
  Scenario scenario;  // with its texts shortened to their beginning
  std::string note;   // "The text is shown as far as it fits: 2,000 of 100,000 tokens."
};
// None if the scenario has no text, if its trace takes at most `bytes`, and if not even one token would fit.
std::optional<Shortened> shortened_to_fit(const Scenario& scenario, Index bytes = most_trace_bytes);

struct Computation {
  Scenario scenario;
  ScenarioInputs inputs;
  TracePtr trace;
  std::optional<Shortened> shortened;  // what it was computed from, where the text is too long to be shown
  double seconds = 0.0;                // compute time
};
using ComputationPtr = std::shared_ptr<const Computation>;

// With the reference backend in f32. If a text is too long, only its beginning is used, and inputs.notes say
// so. What `previous` (may be null) has in common is shared with it. Throws Error, and nothing but Error:
// running out of memory half-way is Error(memory).
ComputationPtr compute(const Scenario& scenario, const Computation* previous,
                       Index most_bytes = most_trace_bytes);

// About how many multiply-adds a Scenario costs when nothing can be shared, random numbers included; derived
// from its sizes alone, without allocating anything. Never negative; huge for huge sizes.
double estimated_work(const Scenario& scenario);
// Whether its parameters are those of a model that is trained when it is first read, and it has not been read
// yet (core/files/file_paths.h).
bool waits_for_model(const Scenario& scenario);
// Whether all of that is little enough to compute within a frame, with no model to be trained before it.
bool computes_at_once(const Scenario& scenario);

}  // namespace headwise
