#include "core/attention/heads_backward.h"

#include "core/attention/heads.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {

Tensor merge_heads_gradient(const Tensor& grad_concat, const Tensor* gain, const Shape& head_output) {
  const Index heads = head_output.size(1);
  Tensor grad = split_heads(grad_concat, heads, "H", "Dv");
  if (!gain || grad.size() == 0) return grad;
  const Index cells = head_output.size(2) * head_output.size(3);  // of one head
  dispatch_float(grad.dtype(), [&]<class T>() {
    const auto values = grad.values<T>();
    for (Index i = 0; i < grad.size(); ++i) {
      values[static_cast<std::size_t>(i)] *= gain->values<T>()[static_cast<std::size_t>(i / cells % heads)];
    }
  });
  return grad;
}

Tensor head_gain_gradient(const Tensor& grad_concat, const Tensor& head_output, const Shape& gain) {
  Tensor grad_gain(gain, grad_concat.dtype());
  if (head_output.size() == 0) return grad_gain;
  const Index heads = head_output.shape().size(1);
  const Index cells = head_output.shape().size(2) * head_output.shape().size(3);
  const Tensor grad_heads = split_heads(grad_concat, heads, "H", "Dv");
  std::vector<double> sums(static_cast<std::size_t>(heads), 0.0);
  dispatch_float(grad_concat.dtype(), [&]<class T>() {
    for (Index i = 0; i < head_output.size(); ++i) {
      const auto cell = static_cast<std::size_t>(i);
      sums[static_cast<std::size_t>(i / cells % heads)] += static_cast<double>(grad_heads.values<T>()[cell]) *
                                                           static_cast<double>(head_output.values<T>()[cell]);
    }
  });
  for (Index h = 0; h < heads; ++h) grad_gain.set_flat(h, sums[static_cast<std::size_t>(h)]);
  return grad_gain;
}

}  // namespace headwise
