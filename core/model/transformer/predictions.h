// The tokens that a model predicts: softmax over the vocabulary of the logits at each position.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/model/transformer/transformer.h"

namespace headwise {

// Calls body(row, logits) for each of the logit_rows(L) rows of last_hidden (1,L,E), in order; logits (V) is
// valid only during the call. Rows are computed a few at a time, so that L·V numbers are never stored.
// Throws like Transformer::logits.
void visit_logits(const Transformer& transformer, const Tensor& last_hidden,
                  const std::function<void(Index row, std::span<const float> logits)>& body);

// A row of logits (L,V).
std::span<const float> logits_of(const Tensor& logits, Index row);

// ln Σ exp(logits): the log probability of a token is its logit minus this.
double log_sum_exp(std::span<const float> logits);

// The distribution given by one row of logits, which must outlive it.
struct WordDistribution {
  std::span<const float> logits;
  double log_sum;  // log_sum_exp

  explicit WordDistribution(std::span<const float> row);
  double log_probability(TokenId id) const {
    return static_cast<double>(logits[static_cast<std::size_t>(id)]) - log_sum;
  }
};

// KL(p‖q) = Σ p log₂(p/q), in bits, ≥ 0; NaN if a logit is NaN. Both over the same vocabulary.
double divergence_bits(const WordDistribution& p, const WordDistribution& q);

struct PredictedWord {
  TokenId id = 0;
  double probability = 0.0;
};

// The k most probable tokens (fewer if the vocabulary is smaller), in descending order; ties by lower id.
std::vector<PredictedWord> top_tokens(std::span<const float> logits, Index k);
// The same for each position: logit_rows(L) lists.
std::vector<std::vector<PredictedWord>> top_tokens(const Transformer& transformer, const Tensor& last_hidden,
                                                   Index k);

// The tokens that a model predicts at each position,
// compared with those it would predict if something in it were changed.

struct WordChange {
  TokenId id = 0;
  double before = 0.0, now = 0.0;  // its probability
};

struct PredictionChange {
  std::vector<WordChange> before, now;  // the most probable ones, in descending order
  // KL(before‖now) = Σ p log₂(p/q): 0 if nothing changed; NaN if a prediction is not finite
  double bits = 0.0;
};

// For each position, of a picture for its first, the k most probable tokens on either side. `before` and
// `now` are last hidden states (1,L,E); rows are computed a few at a time, so that L·V numbers are never
// stored.
// Throws like Transformer::logits.
std::vector<PredictionChange> prediction_changes(const Transformer& transformer, const Tensor& before,
                                                 const Tensor& now, Index k);

}  // namespace headwise
