#include "core/attention/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/cancellation.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

template <class T>
bool all_blocked(std::span<const T> row) {
  return !row.empty() &&
         std::ranges::all_of(row, [](T x) { return x == -std::numeric_limits<T>::infinity(); });
}

// In double, with std::exp: Eigen's vectorised exp(-inf) is 2.9e-39, not 0, and its maxCoeff() may miss a
// NaN. Here a NaN need not be found by the maximum: it reaches the sum, and from there the whole row.
template <class T>
void softmax_row(std::span<const T> x, std::span<T> weights, std::vector<double>& exponentials) {
  double maximum = -std::numeric_limits<double>::infinity();
  for (const T value : x) maximum = std::max(maximum, static_cast<double>(value));
  double sum = 0.0;
  for (std::size_t s = 0; s < x.size(); ++s) {
    exponentials[s] = std::exp(static_cast<double>(x[s]) - maximum);
    sum += exponentials[s];
  }
  for (std::size_t s = 0; s < x.size(); ++s) weights[s] = static_cast<T>(exponentials[s] / sum);
}

}  // namespace

Tensor softmax(const Tensor& masked_scores, FullyMaskedRows fully_masked) {
  Tensor weights(masked_scores.shape(), masked_scores.dtype());
  if (weights.size() == 0) return weights;
  const auto keys = static_cast<std::size_t>(masked_scores.shape().size(masked_scores.shape().rank() - 1));
  std::vector<double> exponentials(keys);
  dispatch_float(masked_scores.dtype(), [&]<class T>() {
    for (std::size_t first = 0; first < static_cast<std::size_t>(weights.size()); first += keys) {
      check_cancelled();
      const std::span<const T> row = masked_scores.values<T>().subspan(first, keys);
      if (fully_masked == FullyMaskedRows::zero && all_blocked(row)) continue;  // zeros already
      softmax_row<T>(row, weights.values<T>().subspan(first, keys), exponentials);
    }
  });
  return weights;
}

std::vector<Index> fully_masked_rows(const Tensor& masked_scores) {
  std::vector<Index> rows;
  if (masked_scores.size() == 0) return rows;
  const Index keys = masked_scores.shape().size(masked_scores.shape().rank() - 1);
  dispatch_float(masked_scores.dtype(), [&]<class T>() {
    for (Index first = 0; first < masked_scores.size(); first += keys) {
      if (all_blocked(masked_scores.values<T>().subspan(static_cast<std::size_t>(first),
                                                        static_cast<std::size_t>(keys)))) {
        rows.push_back(first / keys);
      }
    }
  });
  return rows;
}

}  // namespace headwise
