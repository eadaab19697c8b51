// The words that a model predicts at each position, beside those that it would predict if something in it were otherwise.
#pragma once

#include <vector>

#include "core/model/transformer/predictions.h"

namespace headwise {

struct WordChange {
  TokenId id = 0;
  double before = 0.0, now = 0.0;  // its probability
};

struct PredictionChange {
  std::vector<WordChange> before, now;  // the most probable ones, the most probable first
  double bits =
      0.0;  // KL(before‖now) = Σ p log₂(p/q): 0 where nothing changed; NaN where a prediction is not finite
};

// Of each position, the k most probable words of either side. `before` and `now` are last hidden states (1,L,E); so many rows
// are made at a time that L·V numbers are never stored. Throws as Transformer::logits.
std::vector<PredictionChange> prediction_changes(const Transformer& transformer, const Tensor& before,
                                                 const Tensor& now, Index k);

}  // namespace headwise
