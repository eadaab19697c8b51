#include "core/attention/in_projection_backward.h"

#include <algorithm>

#include "core/tensor/float_dispatch.h"

namespace headwise {

Tensor bias_row_gradient(const Tensor& grad_rows, Index first_appended, const Shape& bias_row) {
  Tensor grad(bias_row, grad_rows.dtype());
  const Index rows = grad_rows.shape().size(1);
  const Index width = grad_rows.shape().size(2);
  for (Index c = 0; c < width; ++c) {
    double sum = 0.0;
    for (Index n = 0; n < grad_rows.shape().size(0); ++n) {
      sum += grad_rows.flat((n * rows + first_appended) * width + c);
    }
    grad.set_flat(c, sum);
  }
  return grad;
}

Tensor leading_rows(const Tensor& grad_rows, Index count) {
  const auto& axes = grad_rows.shape().axes();
  Tensor leading(Shape{axes[0], {"S", count}, axes[2]}, grad_rows.dtype());
  dispatch_float(grad_rows.dtype(), [&]<class T>() {
    auto to = leading.values<T>().begin();
    for (Index n = 0; n < axes[0].size; ++n) {
      const auto from = grad_rows.values<T>().begin() + n * axes[1].size * axes[2].size;
      to = std::copy_n(from, count * axes[2].size, to);
    }
  });
  return leading;
}

}  // namespace headwise
