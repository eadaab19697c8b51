// −Σ p ln p of the probabilities of one row, in nats.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/tensor/shape.h"

namespace headwise {

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
