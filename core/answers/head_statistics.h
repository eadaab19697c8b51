// What a head does, in a few numbers: how sharply it looks, how far, and where most strongly.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Over the finite rows of attn_weights[batch, head] (L,S′); rows of zeros do not count.
struct HeadStatistics {
  Index rows = 0;        // number of rows that count; if 0, everything below is 0
  double entropy = 0.0;  // mean over rows of −Σ p ln p, in nats
  // The entropy of rows that are uniform over all keys that no mask blocks (−inf in mask_bias): ln S′ without a mask.
  double most_entropy = 0.0;
  double distance = 0.0;  // mean over rows of Σ p·|query + offset − key|, appended columns left out
  double back = 0.0;      // the same with its sign: > 0 looks back
  // The strongest pair, the first if tied, among rows with two or more keys that no mask blocks (−inf in mask_bias).
  // −1 if there is none.
  Index query = -1, key = -1;
  double strongest = 0.0;
};

// offset: S − L if the causal mask is aligned at the bottom right, else 0. Throws Error(usage) if the trace has no
// attn_weights or no such batch or head.
HeadStatistics head_statistics(const Trace& trace, Index batch, Index head);

}  // namespace headwise
