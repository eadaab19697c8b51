// "Add & norm" after the attention, as in the post-norm Transformer: torch.nn.LayerNorm(x + sublayer(x)).
#pragma once

#include "core/attention/norm.h"
#include "core/tensor/tensor.h"

namespace headwise {

// residual_output = query + output, cell by cell; both (N,L,E).
Tensor add_residual(const Tensor& query, const Tensor& output);

// Gain 1, bias 0, PyTorch's ε. The residual passes its gradient to both addends unchanged.
inline Tensor layer_norm(const Tensor& x) {
  return normalised(x, nullptr, {});
}
inline Tensor layer_norm_gradient(const Tensor& grad_y, const Tensor& x) {
  return normalised_gradient(grad_y, x, nullptr, {});
}

}  // namespace headwise
