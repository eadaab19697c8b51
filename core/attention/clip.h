// Clipping of q, k and v after their projections (OLMo, "Accelerating the Science of Language Models",
// 2024: clip_qkv).
#pragma once

#include "core/tensor/tensor.h"

namespace headwise {

// Clamps every number to [−bound, bound], like torch.clamp; NaN stays. `bound` > 0; f32 or f64.
Tensor clip(const Tensor& x, double bound);

// d(loss)/dx from d(loss)/d(clip(x)): 0 where |x| > bound, as in autograd. Both have the same shape and type.
Tensor clip_gradient(const Tensor& gradient, const Tensor& x, double bound);

}  // namespace headwise
