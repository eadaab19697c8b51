// What a head does, in a few numbers: how sharply it looks, how far, and where most.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Over the rows of attn_weights[batch, head] (L,S′) that are finite; a row of zeros does not count.
struct HeadStatistics {
  Index rows = 0;        // that count; 0: all below is 0
  double entropy = 0.0;  // mean over rows of −Σ p ln p, in nats
  // The same of rows that look alike at every key that no mask blocks (−inf in mask_bias): ln S′ without a mask.
  double most_entropy = 0.0;
  double distance = 0.0;  // mean over rows of Σ p·|query + offset − key|, appended columns left out
  double back = 0.0;      // the same with its sign: > 0 looks back
  // The strongest pair, the first of equals, among the rows that have a choice: two keys or more that no mask blocks
  // (−inf in mask_bias). −1 where there is none.
  Index query = -1, key = -1;
  double strongest = 0.0;
};

// offset: S − L where the causal mask is aligned at the bottom right, else 0. Throws Error(usage) where the trace
// has no attn_weights or no such batch or head.
HeadStatistics head_statistics(const Trace& trace, Index batch, Index head);

}  // namespace headwise
