#include "core/attention/attention_mask_backward.h"

#include <algorithm>

#include "core/attention/attention_mask.h"

namespace headwise {
namespace {

// Adds each cell of grad_mask_bias to the cell of the mask that it came from.
Tensor sum_over_view(const Tensor& grad_mask_bias, const AttnMaskView& view, const Shape& mask) {
  std::vector<double> sums(static_cast<std::size_t>(mask.element_count()), 0.0);
  const Shape& shape = grad_mask_bias.shape();
  Index row = 0;
  for (Index n = 0; n < shape.size(0); ++n) {
    for (Index h = 0; h < shape.size(1); ++h) {
      for (Index l = 0; l < shape.size(2); ++l, row += shape.size(3)) {
        const Index first = n * view.step_n + h * view.step_h + l * view.step_l;
        for (Index s = 0; s < view.keys; ++s) {
          sums[static_cast<std::size_t>(first + s * view.step_s)] += grad_mask_bias.flat(row + s);
        }
      }
    }
  }
  return Tensor(mask, std::move(sums)).converted(grad_mask_bias.dtype());
}

}  // namespace

Tensor attn_mask_gradient(Op op, const Tensor& grad_mask_bias, const Shape& attn_mask, Index keys) {
  const Shape& bias = grad_mask_bias.shape();
  return sum_over_view(grad_mask_bias,
                       view_attn_mask(op, attn_mask, bias.size(0), bias.size(1), bias.size(2), keys).value(),
                       attn_mask);
}

Tensor key_padding_mask_gradient(const Tensor& grad_mask_bias, const Shape& key_padding_mask) {
  const Index keys = key_padding_mask.size(1);
  return sum_over_view(grad_mask_bias, AttnMaskView{keys, 0, 0, 1, keys}, key_padding_mask);
}

}  // namespace headwise
