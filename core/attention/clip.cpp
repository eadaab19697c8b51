#include "core/attention/clip.h"

#include <cmath>

#include "core/tensor/float_dispatch.h"

namespace headwise {

Tensor clip(const Tensor& x, double bound) {
  Tensor clipped = Tensor::unwritten(x.shape(), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    const auto from = x.values<T>();
    const auto to = clipped.values<T>();
    const T most = static_cast<T>(bound);
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = from[i] > most ? most : from[i] < -most ? -most : from[i];
  });
  return clipped;
}

Tensor clip_gradient(const Tensor& gradient, const Tensor& x, double bound) {
  Tensor passed = Tensor::unwritten(x.shape(), x.dtype());
  dispatch_float(x.dtype(), [&]<class T>() {
    const auto from = gradient.values<T>();
    const auto at = x.values<T>();
    const auto to = passed.values<T>();
    const T most = static_cast<T>(bound);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::abs(at[i]) <= most ? from[i] : T{0};
  });
  return passed;
}

}  // namespace headwise
