// The way back from a trace: what it was computed from, so that a question can compute it another way.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// The options, inputs, parameters and masks of a trace, as its backend was given them; the same tensors, not copies.
AttentionInputs traced_inputs(const Trace& trace);

// |a − b| at its largest over all cells; NaN agrees with NaN, an infinity with itself; ∞ where NaN or an infinity meets
// anything else; 0 where there is no cell. The sizes must agree.
double largest_difference(const Tensor& a, const Tensor& b);
// The largest finite |a|: what a difference is held against.
double largest_magnitude(const Tensor& a);

}  // namespace headwise
