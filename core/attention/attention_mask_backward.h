// d(loss) of numeric masks. A boolean mask has no gradient.
#pragma once

#include "core/attention/attention_options.h"
#include "core/tensor/tensor.h"

namespace headwise {

// d attn_mask, in its own shape: d mask_bias (N,H,L,S′) summed over the axes along which the mask repeats.
// `keys` is S.
Tensor attn_mask_gradient(Op op, const Tensor& grad_mask_bias, const Shape& attn_mask, Index keys);

// d key_padding_mask[n,s] = Σ_{h,l} d mask_bias[n,h,l,s]; its shape is (N,S).
Tensor key_padding_mask_gradient(const Tensor& grad_mask_bias, const Shape& key_padding_mask);

}  // namespace headwise
