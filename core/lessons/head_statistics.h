// What a head does, in a few numbers: how sharply it looks, how far, and where most strongly.
#pragma once

#include <optional>

#include "core/attention/trace.h"
#include "core/model/heads/head_scores.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// How evenly one query spreads its attention, in nats.
struct RowEntropy {
  double entropy = 0.0;  // −Σ p ln p over the row of attn_weights
  double most =
      0.0;  // ln of the number of keys it chooses among: the entropy if it attended to all of them equally
  Index open = 0;  // that number (open_keys of core/attention/blocked_cells.h)
};

// nullopt if the trace has no such row, or the row is not finite or all 0.
std::optional<RowEntropy> row_entropy(const Trace& trace, Index batch, Index head, Index query);

// Over the finite rows of attn_weights[batch, head] (L,S′); rows of zeros do not count.
struct HeadStatistics {
  Index rows = 0;  // number of rows that count; if 0, everything below is 0
  // Means over rows of RowEntropy: its `entropy`, and its `most`, which is ln S′ without a mask.
  double entropy = 0.0, most_entropy = 0.0;
  double distance = 0.0;  // mean over rows of Σ p·|query + offset − key|, appended columns left out
  double back = 0.0;      // the same with its sign: > 0 looks back
  // The strongest pair, the first if tied, among rows with two or more open keys. −1 if there is none.
  Index query = -1, key = -1;
  double strongest = 0.0;
};

// offset: S − L if the causal mask is aligned at the bottom right, else 0. Throws Error(usage) if the trace
// has no attn_weights or no such batch or head.
HeadStatistics head_statistics(const Trace& trace, Index batch, Index head);

// The scores of one head (core/model/heads/head_scores.h). nullopt without attention weights, without
// self-attention, if tokens and keys do not match one to one, or if there is no such batch or head. Two
// positions hold the same word if their tokens (of a model's text), or else their labels, are equal.
std::optional<HeadScores> traced_habits(const Trace& trace, const Scenario& scenario,
                                        const ScenarioInputs& inputs, Index batch, Index head);

}  // namespace headwise
