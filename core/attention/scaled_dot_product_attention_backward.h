// d(loss) of the parts of scaled dot-product attention, from the last to the first. P is attn_weights, O is
// head_output, S is scores. Source: "FlashAttention" (Dao et al., 2022), appendix B.2, without its tiling.
#pragma once

#include <optional>

#include "core/attention/scaled_dot_product_attention.h"

namespace headwise {

// dP[n,h,l,s] = Σ_e dO[n,h,l,e]·v_heads[n,g,s,e], the gradient of the dropped weights; `weights` is their
// shape (N,H,L,S′).
Tensor weighted_sum_weights_gradient(const Tensor& grad_head_output, const Tensor& v_heads,
                                     const Shape& weights);

// dV[n,g,s,e] = Σ_{h of g} Σ_l P[n,h,l,s]·dO[n,h,l,e], where P are the dropped weights; (N,G,S′,Dv), the shape of v_heads.
Tensor weighted_sum_values_gradient(const Tensor& grad_head_output, const Tensor& dropped_weights,
                                    const Shape& v_heads);

// d x = P∘(dP − Σ_s dP∘P): through the softmax, row by row. A row of zeros (fully masked) gets zeros.
Tensor softmax_gradient(const Tensor& grad_attn_weights, const Tensor& attn_weights);

// d scaled_scores, which is also d mask_bias: the gradient of the sum, 0 in cells filled with `mask_value`.
Tensor mask_scores_gradient(const Tensor& grad_masked_scores, const Tensor& mask_bias,
                            std::optional<double> mask_value);

// d scores = d scaled·scale/temperature, times 1 − tanh² if there is a softcap.
Tensor scale_scores_gradient(const Tensor& grad_scaled_scores, const Tensor& scores, const ScoreScale& scale);

// dQ[n,h,l,d] = Σ_s dS[n,h,l,s]·k_heads[n,g,s,d]; (N,H,L,D), the shape of q_heads.
Tensor attention_scores_query_gradient(const Tensor& grad_scores, const Tensor& k_heads, const Shape& q_heads);

// dK[n,g,s,d] = Σ_{h of g} Σ_l dS[n,h,l,s]·q_heads[n,h,l,d]; (N,G,S′,D), the shape of k_heads.
Tensor attention_scores_key_gradient(const Tensor& grad_scores, const Tensor& q_heads, const Shape& k_heads);

}  // namespace headwise
