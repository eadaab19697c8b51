// How far a backend's numbers are from float64 where there are too many to compute them all: on some rows.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

struct SampledAgreement {
  double max_abs_diff = 0.0;  // NaN where a number that should be one is none
  double largest = 0.0;       // magnitude among the numbers that were compared with
  Index rows = 0;             // of output that were computed again
};

// Of `rows` rows of q, k, v and output of multi_head_attention, spread over all, computed again in float64: q, k and v from the
// inputs, a row of output from its own q and the trace's k and v. Needs q, k, v and output. Throws Error(usage) where they
// are missing, and for dropout and frozen heads, Error(cancelled).
SampledAgreement sampled_agreement(const Trace& trace, Index rows = 16);

}  // namespace headwise
