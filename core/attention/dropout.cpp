#include "core/attention/dropout.h"

#include "core/tensor/float_dispatch.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

double factor(const CounterRandom& random, double p, Index flat_cell) {
  const bool kept = random.uniform(static_cast<std::uint64_t>(flat_cell)) >= p;
  return kept ? 1.0 / (1.0 - p) : 0.0;
}

}  // namespace

double dropout_factor(double p, std::uint64_t seed, Index flat_cell) {
  return factor(CounterRandom(seed, "dropout"), p, flat_cell);
}

Tensor dropout(const Tensor& attn_weights, double p, std::uint64_t seed) {
  Tensor dropped(attn_weights.shape(), attn_weights.dtype());
  const CounterRandom random(seed, "dropout");
  dispatch_float(attn_weights.dtype(), [&]<class T>() {
    const auto from = attn_weights.values<T>();
    const auto to = dropped.values<T>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<T>(from[i] * factor(random, p, static_cast<Index>(i)));
    }
  });
  return dropped;
}

}  // namespace headwise
