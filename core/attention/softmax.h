// The softmax over keys, and its result for a row in which every key is blocked.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace headwise {

// weights[…,s] = exp(x[…,s] − max_s x) / Σ_s exp(x[…,s] − max_s x) over the last axis.
// A row that contains NaN or +inf becomes NaN. A row of -inf only becomes NaN or zeros, as `fully_masked`
// says.
Tensor softmax(const Tensor& masked_scores, FullyMaskedRows fully_masked);

// Rows (all axes but the last, flat index) in which every cell is -inf;
// a row without cells is not one of them.
std::vector<Index> fully_masked_rows(const Tensor& masked_scores);

// −Σ p ln p of the probabilities of one row, in nats.

// `probability(key)` for the keys first … last − 1. nullopt if one of them is not finite, or all are 0.
template <class Probability>
std::optional<double> row_entropy(Index first, Index last, const Probability& probability) {
  double sum = 0.0, entropy = 0.0;
  for (Index key = first; key < last; ++key) {
    const auto p = static_cast<double>(probability(key));
    if (!std::isfinite(p)) return std::nullopt;
    sum += p;
    if (p > 0.0) entropy -= p * std::log(p);
  }
  // Rounding may leave a weight a little above 1.
  return sum > 0.0 ? std::optional(std::max(0.0, entropy)) : std::nullopt;
}

}  // namespace headwise
