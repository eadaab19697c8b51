// d(loss) of the layer norm. The residual passes its gradient to both addends unchanged.
#pragma once

#include "core/tensor/tensor.h"

namespace headwise {

// With y = layer_norm(x), over the last axis of E cells: dx = (dy − mean(dy) − y·mean(dy∘y))/√(variance + ε).
Tensor layer_norm_gradient(const Tensor& grad_y, const Tensor& x);

}  // namespace headwise
