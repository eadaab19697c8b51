// How far a backend's numbers are from float64 if there are too many to compute them all:
// measured on some rows.
#pragma once

#include "core/attention/trace.h"

namespace headwise {

struct SampledAgreement {
  double max_abs_diff = 0.0;  // NaN if a number that should be finite is not
  double largest = 0.0;       // magnitude of the numbers compared with
  Index rows = 0;             // of output that were recomputed
};

// Recomputes `rows` rows of q, k, v and output of multi_head_attention, evenly spread, in float64: q, k and v
// from the inputs, a row of output from its own q and the trace's k and v. Needs q, k, v and output. Throws
// Error(usage) if they are missing, and for dropout and frozen heads, Error(cancelled).
SampledAgreement sampled_agreement(const Trace& trace, Index rows = 16);

}  // namespace headwise
