#include "core/attention/softmax.h"

#include <limits>
#include <span>
#include <type_traits>

#include "core/tensor/double_kernels.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

template <class T>
bool all_blocked(std::span<const T> row) {
  return !row.empty() && std::ranges::all_of(row, [](T x) { return x == -std::numeric_limits<T>::infinity(); });
}

// In double. The maximum may miss a NaN: it reaches the sum, and from there the whole row.
void softmax_row(const DoubleKernels& kernels, const double* x, Index keys, double* weights) {
  const double sum = kernels.exponentials(x, kernels.largest(x, keys), keys, weights);
  for (Index s = 0; s < keys; ++s) weights[s] /= sum;
}

}  // namespace

Tensor softmax(const Tensor& masked_scores, FullyMaskedRows fully_masked) {
  Tensor weights = Tensor::unwritten(masked_scores.shape(), masked_scores.dtype());
  if (weights.size() == 0) return weights;
  const DoubleKernels& kernels = chosen_double_kernels();
  const Index keys = masked_scores.shape().size(masked_scores.shape().rank() - 1);
  constexpr double cost_of_exponential = 12.0;
  dispatch_float(masked_scores.dtype(), [&]<class T>() {
    const T* const x = masked_scores.values<T>().data();
    T* const to = weights.values<T>().data();
    for_ranges(weights.size() / keys, cost_of_exponential * static_cast<double>(keys),
               [&](Index first, Index last) {
                 std::vector<double> wide(std::is_same_v<T, double> ? 0 : static_cast<std::size_t>(keys));
                 for (Index at = first * keys; at < last * keys; at += keys) {
                   if (fully_masked == FullyMaskedRows::zero &&
                       all_blocked(std::span<const T>(x + at, static_cast<std::size_t>(keys)))) {
                     std::fill_n(to + at, keys, T{0});
                   } else if constexpr (std::is_same_v<T, double>) {
                     softmax_row(kernels, x + at, keys, to + at);
                   } else {
                     std::copy_n(x + at, keys, wide.data());
                     softmax_row(kernels, wide.data(), keys, wide.data());
                     for (Index s = 0; s < keys; ++s)
                       to[at + s] = static_cast<T>(wide[static_cast<std::size_t>(s)]);
                   }
                 }
               });
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
