// The tokens that a model predicts at each position,
// compared with those it would predict if something in it were changed.
#pragma once

#include <vector>

#include "core/model/transformer/predictions.h"

namespace headwise {

struct WordChange {
  TokenId id = 0;
  double before = 0.0, now = 0.0;  // its probability
};

struct PredictionChange {
  std::vector<WordChange> before, now;  // the most probable ones, in descending order
  // KL(before‖now) = Σ p log₂(p/q): 0 if nothing changed; NaN if a prediction is not finite
  double bits = 0.0;
};

// For each position, the k most probable tokens on either side. `before` and `now` are last hidden states
// (1,L,E); rows are computed a few at a time, so that L·V numbers are never stored.
// Throws like Transformer::logits.
std::vector<PredictionChange> prediction_changes(const Transformer& transformer, const Tensor& before,
                                                 const Tensor& now, Index k);

}  // namespace headwise
