// The parts of Attention(Q,K,V) = softmax(Q·Kᵀ/√D)·V, one function each, in the order they are applied: scores, scale, mask,
// (softmax and dropout have their own files), weighted sum. Sources: "Attention Is All You Need", 3.2.1;
// F.scaled_dot_product_attention; ONNX Attention, opset 23.
#pragma once

#include <optional>

#include "core/attention/attention_options.h"
#include "core/attention/incremental_product.h"
#include "core/tensor/tensor.h"

namespace headwise {

// 'nhld,ngsd->nhls': scores[n,h,l,s] = Σ_d q_heads[n,h,l,d]·k_heads[n,g,s,d], g = h/(H/G). Not scaled.
// q_heads (N,H,L,D), k_heads (N,G,S′,D); `out` is (N,H,L,S′).
Tensor attention_scores(const Tensor& q_heads, const Tensor& k_heads, Shape out);

// The previous product of each head (core/attention/incremental_product.h); `left` (N,H,…) and `right` (N,G,…) are its
// factors.
struct EarlierHeads {
  const Tensor& left;
  const Tensor& right;
  const Tensor& out;
};
// Like incremental_product, with `scores` as its output; also returns `most` if sizes differ. f64 only.
ProductChange incremental_attention_scores(const Tensor& q_heads, const Tensor& k_heads,
                                           const EarlierHeads& earlier, Tensor& scores);

// How scores become scaled_scores: x = scores·scale/temperature, and with softcap c > 0: c·tanh(x/c).
struct ScoreScale {
  double scale = 1.0;        // 1/√D unless given; 0 and negative are valid
  double temperature = 1.0;  // > 0
  double softcap = 0.0;      // ≥ 0; 0: none
};
// 1/√D, where D is options.head_dim: the scale if none is given.
double derived_scale(const AttentionOptions& options);
// The values set in the options.
ScoreScale score_scale(const AttentionOptions& options);
Tensor scale_scores(const Tensor& scores, const ScoreScale& scale);

// masked[…] = scaled[…] + mask_bias[…]. With `mask_value`, cells whose mask_bias is -inf are filled with it instead, whatever
// their score is (masked_fill: NaN too).
Tensor mask_scores(const Tensor& scaled_scores, const Tensor& mask_bias, std::optional<double> mask_value);

// 'nhls,ngse->nhle': head_output[n,h,l,e] = Σ_s dropped_weights[n,h,l,s]·v_heads[n,g,s,e].
// dropped_weights (N,H,L,S′), v_heads (N,G,S′,Dv). A weight of 0 does not hide a value that is NaN or
// infinite.
Tensor weighted_sum(const Tensor& dropped_weights, const Tensor& v_heads);
ProductChange incremental_weighted_sum(const Tensor& dropped_weights, const Tensor& v_heads,
                                       const EarlierHeads& earlier, Tensor& head_output);

}  // namespace headwise
