// d(loss) of the merge with its gains. Without gains the merge and the split are each other's inverse:
// split_heads, merge_heads.
#pragma once

#include "core/tensor/tensor.h"

namespace headwise {

// d head_output[n,h,l,w] = gain[h]·d concat[n,l,h·Dv+w]; `gain` (H) may be null: all 1. `head_output` is the
// shape of the result.
Tensor merge_heads_gradient(const Tensor& grad_concat, const Tensor* gain, const Shape& head_output);

// d gain[h] = Σ_{n,l,w} d concat[n,l,h·Dv+w]·head_output[n,h,l,w]; `gain` is the shape (H).
Tensor head_gain_gradient(const Tensor& grad_concat, const Tensor& head_output, const Shape& gain);

}  // namespace headwise
