#include "core/attention/dropout.h"

#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {

double dropout_factor(double p, const CounterRandom& random, Index flat_cell) {
  const bool kept = random.uniform(static_cast<std::uint64_t>(flat_cell)) >= p;
  return kept ? 1.0 / (1.0 - p) : 0.0;
}

double dropout_factor(double p, std::uint64_t seed, Index flat_cell) {
  return dropout_factor(p, CounterRandom(seed, "dropout"), flat_cell);
}

Tensor dropout(const Tensor& attn_weights, double p, std::uint64_t seed) {
  Tensor dropped = Tensor::unwritten(attn_weights.shape(), attn_weights.dtype());
  drop_cells(attn_weights, dropped, 0, dropped.size(), p, seed, 0);
  return dropped;
}

void drop_cells(const Tensor& attn_weights, Tensor& dropped, Index at, Index count, double p,
                std::uint64_t seed, Index flat_cell) {
  const CounterRandom random(seed, "dropout");
  dispatch_float(attn_weights.dtype(), [&]<class T>() {
    const auto from = attn_weights.values<T>();
    const auto to = dropped.values<T>();
    for_ranges(count, cost_of_random, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const auto cell = static_cast<std::size_t>(at + i);
        to[cell] = static_cast<T>(from[cell] * dropout_factor(p, random, flat_cell + i));
      }
    });
  });
}

}  // namespace headwise
