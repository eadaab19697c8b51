#include "core/attention/average_weights.h"

#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {

Tensor average_over_heads(const Tensor& weights) {
  const auto& axes = weights.shape().axes();
  Tensor mean(Shape{axes[0], axes[2], axes[3]}, weights.dtype());
  const Index heads = axes[1].size;
  dispatch_float(weights.dtype(), [&]<class T>() {
    for (Index n = 0; n < axes[0].size; ++n) {
      RowMatrix<double> sum = RowMatrix<double>::Zero(axes[2].size, axes[3].size);
      for (Index h = 0; h < heads; ++h) sum += matrix<T>(weights, n * heads + h).template cast<double>();
      matrix<T>(mean, n) = (sum / static_cast<double>(heads)).template cast<T>();
    }
  });
  return mean;
}

}  // namespace headwise
