#include "core/attention/average_weights.h"

#include <algorithm>
#include <vector>

#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {

Tensor average_over_heads(const Tensor& weights) {
  const auto& axes = weights.shape().axes();
  Tensor mean = Tensor::unwritten(Shape{axes[0], axes[2], axes[3]}, weights.dtype());
  const Index heads = axes[1].size, queries = axes[2].size, keys = axes[3].size;
  dispatch_float(weights.dtype(), [&]<class T>() {
    const T* const from = weights.values<T>().data();
    T* const to = mean.values<T>().data();
    for_ranges(axes[0].size * queries, static_cast<double>(heads * keys), [&](Index first, Index last) {
      std::vector<double> sum(static_cast<std::size_t>(keys));
      for (Index row = first; row < last; ++row) {
        const Index n = row / queries, l = row % queries;
        std::ranges::fill(sum, 0.0);
        for (Index h = 0; h < heads; ++h) {
          const T* const one = from + ((n * heads + h) * queries + l) * keys;
          for (Index s = 0; s < keys; ++s) sum[static_cast<std::size_t>(s)] += static_cast<double>(one[s]);
        }
        for (Index s = 0; s < keys; ++s)
          to[row * keys + s] = static_cast<T>(sum[static_cast<std::size_t>(s)] / static_cast<double>(heads));
      }
    });
  });
  return mean;
}

}  // namespace headwise
