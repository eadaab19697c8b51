#include "core/model/transformer/feed_forward.h"

#include <cmath>
#include <numbers>

#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr double cost_of_activation = 40.0;  // in multiply-adds

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::gelu:
      return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu:
      return x / (1.0 + std::exp(-1.702 * x));
    case Activation::relu:
      return x < 0.0 ? 0.0 : x;  // NaN stays
    case Activation::silu:
      return x / (1.0 + std::exp(-x));
  }
  return x;
}

}  // namespace

void activate(Activation activation, Rows& x) {
  for_ranges(x.size(), cost_of_activation, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      x.data()[i] = static_cast<float>(activated(activation, static_cast<double>(x.data()[i])));
  });
}

Rows feed_forward(const FeedForward& parts, const Rows& x) {
  Rows inner = apply_linear(parts.in, x);
  if (parts.gate) {
    Rows gate = apply_linear(*parts.gate, x);
    activate(parts.activation, gate);
    inner.array() *= gate.array();
  } else {
    activate(parts.activation, inner);
  }
  return apply_linear(parts.out, inner);
}

}  // namespace headwise
