// The parts of Attention(Q,K,V) = softmax(Q·Kᵀ/√D)·V, one function each, in the order they are applied:
// scores, scale, mask, (softmax and dropout have their own files), weighted sum. Sources: "Attention Is All
// You Need", 3.2.1; F.scaled_dot_product_attention; ONNX Attention, opset 23.
#pragma once

#include <optional>
#include <span>

#include "core/attention/matrix_product.h"
#include "core/attention/score_scale.h"
#include "core/tensor/tensor.h"

namespace headwise {

// 'nhld,ngsd->nhls': scores[n,h,l,s] = Σ_d q_heads[n,h,l,d]·k_heads[n,g,s,d], g = h/(H/G). Not scaled.
// q_heads (N,H,L,D), k_heads (N,G,S′,D); `out` is (N,H,L,S′).
Tensor attention_scores(const Tensor& q_heads, const Tensor& k_heads, Shape out);

// The previous product of each head (core/attention/matrix_product.h); `left` (N,H,…) and `right`
// (N,G,…) are its factors.
struct EarlierHeads {
  const Tensor& left;
  const Tensor& right;
  const Tensor& out;
};
// Like incremental_product, with `scores` as its output; also returns `most` if sizes differ. f64 only.
ProductChange incremental_attention_scores(const Tensor& q_heads, const Tensor& k_heads,
                                           const EarlierHeads& earlier, Tensor& scores);

Tensor scale_scores(const Tensor& scores, const ScoreScale& scale);

// masked[…] = scaled[…] + mask_bias[…]. With `mask_value`, cells whose mask_bias is -inf are filled with it
// instead, whatever their score is (masked_fill: NaN too).
Tensor mask_scores(const Tensor& scaled_scores, const Tensor& mask_bias, std::optional<double> mask_value);

// 'nhls,ngse->nhle': head_output[n,h,l,e] = Σ_s dropped_weights[n,h,l,s]·v_heads[n,g,s,e].
// dropped_weights (N,H,L,S′), v_heads (N,G,S′,Dv). A weight of 0 does not hide a value that is NaN or
// infinite.
Tensor weighted_sum(const Tensor& dropped_weights, const Tensor& v_heads);
ProductChange incremental_weighted_sum(const Tensor& dropped_weights, const Tensor& v_heads,
                                       const EarlierHeads& earlier, Tensor& head_output);

// d(loss) of the parts of scaled dot-product attention, from the last to the first. P is attn_weights, O is
// head_output, S is scores. Source: "FlashAttention" (Dao et al., 2022), appendix B.2, without its tiling.

// dP[n,h,l,s] = Σ_e dO[n,h,l,e]·v_heads[n,g,s,e], the gradient of the dropped weights; `weights` is their
// shape (N,H,L,S′).
Tensor weighted_sum_weights_gradient(const Tensor& grad_head_output, const Tensor& v_heads,
                                     const Shape& weights);

// dV[n,g,s,e] = Σ_{h of g} Σ_l P[n,h,l,s]·dO[n,h,l,e], where P are the dropped weights; (N,G,S′,Dv),
// the shape of v_heads.
Tensor weighted_sum_values_gradient(const Tensor& grad_head_output, const Tensor& dropped_weights,
                                    const Shape& v_heads);

// d x = P∘(dP − Σ_s dP∘P): through the softmax, row by row. A row of zeros (fully masked) gets zeros.
Tensor softmax_gradient(const Tensor& grad_attn_weights, const Tensor& attn_weights);

// d sinks[h] = −Σ_{n,l} w·Σ_s dP∘P, w being the share that the sink takes: the same with a dP of 0 for its
// own weight, which is dropped. 0 for frozen heads. (H)
Tensor sinks_gradient(const Tensor& grad_attn_weights, const Tensor& attn_weights, const Tensor& sink_weights,
                      std::span<const Index> frozen_heads);

// d scaled_scores, which is also d mask_bias: the gradient of the sum, 0 in cells filled with `mask_value`.
Tensor mask_scores_gradient(const Tensor& grad_masked_scores, const Tensor& mask_bias,
                            std::optional<double> mask_value);

Tensor scale_scores_gradient(const Tensor& grad_scaled_scores, const Tensor& scores, const ScoreScale& scale);

// dQ[n,h,l,d] = Σ_s dS[n,h,l,s]·k_heads[n,g,s,d]; (N,H,L,D), the shape of q_heads.
Tensor attention_scores_query_gradient(const Tensor& grad_scores, const Tensor& k_heads, const Shape& q_heads);

// dK[n,g,s,d] = Σ_{h of g} Σ_l dS[n,h,l,s]·q_heads[n,h,l,d]; (N,G,S′,D), the shape of k_heads.
Tensor attention_scores_key_gradient(const Tensor& grad_scores, const Tensor& q_heads, const Shape& k_heads);

// The second result of torch.nn.MultiheadAttention, averaged over heads.

// 'nhls->nls', the mean over h: (N,H,L,S′) → (N,L,S′).
Tensor average_over_heads(const Tensor& weights);

}  // namespace headwise
