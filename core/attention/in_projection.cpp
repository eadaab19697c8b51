#include "core/attention/in_projection.h"

#include <algorithm>

#include "core/tensor/float_dispatch.h"

namespace headwise {

LinearRows in_projection_rows(Projection which, const AttentionOptions& options, const Tensor* in_proj_weight,
                              const Tensor* own_weight, const Tensor* in_proj_bias) {
  const Index q_rows = options.num_heads * options.head_dim;
  const Index k_rows = options.num_kv_heads * options.head_dim;
  const Index first = which == Projection::q ? 0 : which == Projection::k ? q_rows : q_rows + k_rows;
  if (own_weight) return {own_weight, 0, in_proj_bias, first};
  return {in_proj_weight, first, in_proj_bias, first};
}

Tensor append_rows(const Tensor& rows, const Tensor* bias_row, bool zero_row) {
  const Index batch = rows.shape().size(0);   // N
  const Index length = rows.shape().size(1);  // S
  const Index width = rows.shape().size(2);   // W
  const Index appended = length + (bias_row ? 1 : 0) + (zero_row ? 1 : 0);
  Tensor out(Shape{{"N", batch}, {"S′", appended}, rows.shape().axes()[2]}, rows.dtype());
  dispatch_float(rows.dtype(), [&]<class T>() {
    const auto from = rows.values<T>();
    const auto to = out.values<T>();
    for (Index n = 0; n < batch; ++n) {
      const auto begin = from.begin() + n * length * width;
      auto end_of_copy = std::copy(begin, begin + length * width, to.begin() + n * appended * width);
      if (bias_row) std::ranges::copy(bias_row->values<T>(), end_of_copy);
    }
  });
  return out;
}

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
