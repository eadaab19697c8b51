// "Add & norm" after the attention, as in the post-norm Transformer: torch.nn.LayerNorm(x + sublayer(x)).
#pragma once

#include "core/tensor/tensor.h"

namespace headwise {

inline constexpr double layer_norm_epsilon = 1e-5;  // PyTorch's default

// residual_output = query + output, cell by cell; both (N,L,E).
Tensor add_residual(const Tensor& query, const Tensor& output);

// Normalises over the last axis: (x − mean)/√(variance + ε), where the variance divides by E, not E−1; gain
// 1, bias 0.
Tensor layer_norm(const Tensor& x);

// d(loss) of the layer norm. The residual passes its gradient to both addends unchanged.

// With y = layer_norm(x), over the last axis of E cells: dx = (dy − mean(dy) − y·mean(dy∘y))/√(variance + ε).
Tensor layer_norm_gradient(const Tensor& grad_y, const Tensor& x);

}  // namespace headwise
