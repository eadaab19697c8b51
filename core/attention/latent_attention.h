// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): keys and values are made of one
// latent of C numbers for each token, which is all that a cache keeps, beside R columns of each key that have
// the position.
//
//   expanded   each head's keys are [W_UK·c ; k_rot] and its values W_UV·c: D = Dn + R
//   absorbed   queries are multiplied by W_UK and sums of latents by W_UV, so that all heads read the latent:
//              [q·W_UK ; q_rot] meets [c ; k_rot], one key of C + R columns whose first C are the value
//
// Both compute the same numbers, up to rounding. The stages that are unlike those of multi_head_attention,
// and their parts, f32 or f64; sums are double, rounded once. Letters: core/attention/attention_sizes.h.
#pragma once

#include "core/attention/attention_sizes.h"
#include "core/attention/refusals.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Which given tensors the operator reads.
bool latent_reads(TensorId id);
inline bool is_latent_parameter(TensorId id) {
  return id >= TensorId::q_a_weight && id <= TensorId::kv_b_weight;
}

// Refuses options and sizes that do not fit together, what the operator does not have, and parameters of
// other shapes.
void check_latent_options(const AttentionOptions& options, const TraceTensors& tensors);
void check_latent_parameters(const AttentionOptions& options, const TraceTensors& tensors,
                             const AttentionSizes& sizes, Refusals& refusals);

// compressed_q (N,L,Cq) in one step, with `bias` (Cq) and `norm_weight` (Cq) or null.
Tensor compressed_queries(const Tensor& query, const Tensor& weight, const Tensor* bias,
                          const Tensor* norm_weight, const AttentionOptions& options,
                          const AttentionSizes& sizes);

// Columns from `first` on of the rows of x, as many as the last axis of `shape`, which has as many rows.
Tensor columns_of(const Tensor& x, Index first, const Shape& shape);
// The rows of two tensors side by side.
Tensor side_by_side(const Tensor& left, const Tensor& right, const Shape& shape);
// The latents (N,S,C) as the values of one head, (N,1,S,C).
Tensor as_one_head(const Tensor& latents);

// k_heads (N,H,S,D): of each head the first Dn of its columns of kv_b (N,S,H·(Dn+Dv)), and k_rot (N,1,S,R);
// v_heads (N,H,S,Dv) its other columns.
Tensor expanded_keys(const Tensor& kv_b, const Tensor& k_rot, const Shape& k_heads, Index v_head_dim);
Tensor expanded_values(const Tensor& kv_b, const Shape& v_heads);
// d(loss)/d(kv_b) and, summed over the heads, d(loss)/d(k_rot).
Tensor expanded_gradient(const Tensor& grad_keys, const Tensor& grad_values, const Shape& kv_b);
Tensor shared_key_gradient(const Tensor& grad_keys, const Shape& k_rot);

// q_absorbed[n,h,l,c] = Σ_d q[n,h,l,d]·W_UK[h,d,c] for c < C, then the last R columns of q (N,H,L,D).
// `kv_b_weight` is (H·(Dn+Dv),C).
Tensor absorbed_queries(const Tensor& q, const Tensor& kv_b_weight, const AttentionSizes& sizes);
Tensor absorbed_queries_gradient(const Tensor& grad_absorbed, const Tensor& kv_b_weight, const Shape& q,
                                 const AttentionSizes& sizes);
// head_output[n,h,l,e] = Σ_c latent_output[n,h,l,c]·W_UV[h,e,c]
Tensor values_of_latents(const Tensor& latent_output, const Tensor& kv_b_weight, const AttentionSizes& sizes);
Tensor values_of_latents_gradient(const Tensor& grad_head_output, const Tensor& kv_b_weight,
                                  const AttentionSizes& sizes);
// d(loss)/d(kv_b_proj.weight) of both.
Tensor absorbed_weight_gradient(const Tensor& q, const Tensor& grad_absorbed, const Tensor& latent_output,
                                const Tensor& grad_head_output, const Shape& kv_b_weight,
                                const AttentionSizes& sizes);

}  // namespace headwise
