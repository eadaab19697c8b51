// Texts longer than a window can show: attention maps grow with L·S.
#pragma once

#include <optional>
#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// Bytes that the trace of one Scenario in the window may take: anything larger is unreadable as a picture and slow to
// respond. Less if less memory is available.
inline constexpr Index most_trace_bytes = Index{1} << 30;

// About how many bytes a trace of these lengths takes; never overflows.
double estimated_trace_bytes(const Scenario& scenario, Index query_length, Index key_length);

struct Shortened {
  Scenario scenario;  // with its texts shortened to their beginning
  std::string note;   // "The text is shown as far as it fits: 2,000 of 100,000 tokens."
};
// None if the scenario has no text, if its trace takes at most `bytes`, and if not even one token would fit.
std::optional<Shortened> shortened_to_fit(const Scenario& scenario, Index bytes = most_trace_bytes);

}  // namespace headwise
