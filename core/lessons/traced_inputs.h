// From a trace back to what it was computed from, so that it can be computed in another way.
#pragma once

#include "core/attention/trace.h"

namespace headwise {

// The options, inputs, parameters and masks of a trace, as given to its backend; the same tensors,
// not copies.
AttentionInputs traced_inputs(const Trace& trace);

// The largest |a − b| over all cells; NaN equals NaN, an infinity equals itself; ∞ if NaN or an infinity
// meets anything else; 0 if there are no cells. The sizes must agree.
double largest_difference(const Tensor& a, const Tensor& b);

}  // namespace headwise
