// The words that a model predicts: softmax over the vocabulary of the logits of each position.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/model/transformer/transformer.h"

namespace headwise {

// Calls body(row, logits) for each of the L rows of last_hidden (1,L,E), in order; logits (V) holds only during the call. So
// many rows are made at a time that L·V numbers are never stored. Throws as Transformer::logits.
void visit_logits(const Transformer& transformer, const Tensor& last_hidden,
                  const std::function<void(Index row, std::span<const float> logits)>& body);

// ln Σ exp(logits): the logarithm of a word's probability is its logit less this.
double log_sum_exp(std::span<const float> logits);

// What one row of logits says. The logits must outlive it.
struct WordDistribution {
  std::span<const float> logits;
  double log_sum;  // log_sum_exp

  explicit WordDistribution(std::span<const float> row);
  double log_probability(TokenId id) const {
    return static_cast<double>(logits[static_cast<std::size_t>(id)]) - log_sum;
  }
};

// KL(p‖q) = Σ p log₂(p/q), in bits, ≥ 0; NaN where a logit is NaN. Both of the same vocabulary.
double divergence_bits(const WordDistribution& p, const WordDistribution& q);

struct PredictedWord {
  TokenId id = 0;
  double probability = 0.0;
};

// The k most probable words (fewer where the vocabulary has fewer), the most probable first, of equal ones the lower id.
std::vector<PredictedWord> top_tokens(std::span<const float> logits, Index k);
// The same for each position: L lists.
std::vector<std::vector<PredictedWord>> top_tokens(const Transformer& transformer, const Tensor& last_hidden,
                                                   Index k);

// The probability of ids[i] at position i; ids must be in the vocabulary, L of them.
std::vector<double> token_probabilities(const Transformer& transformer, const Tensor& last_hidden,
                                        std::span<const TokenId> ids);

}  // namespace headwise
