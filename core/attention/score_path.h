// The way of q and of k from their projection to the scores, and of v to the weighted sum, as the options say
// it: q, q_heads and, where they are asked for, q_normed and q_rotary; keys and values end as present_key and
// present_value where there is a past. Each tensor is made of the one before it; the last is a factor of the
// scores, or of the sum. In multi_head_latent_attention keys and values have no way of their own: they are
// made of a latent, k_heads and v_heads, or k_absorbed and the latents themselves, which are (N,S′,C). There
// the past is one of latents, before heads are made of them.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/attention/tensor_names.h"

namespace headwise {

// From q (or k) on; from q_heads (or k_heads) on for scaled_dot_product_attention.
std::vector<TensorId> path_of_queries(const AttentionOptions& options);
std::vector<TensorId> path_of_keys(const AttentionOptions& options);
std::vector<TensorId> path_of_values(const AttentionOptions& options);

// What `id`, on one of the paths but not its first, or one of the present, is made of; of this pass alone.
TensorId made_of(TensorId id, const AttentionOptions& options);

// One of the two tensors that a cache keeps, and what the scores or the sum are made of: the past, and the
// rows of this pass after it. Without a past there is none.
struct CachedTensor {
  TensorId past, present;
};
// Keys and values, or latents and what of each key is rotated by position.
std::array<CachedTensor, 2> cached_tensors(Op op);
// Those of both kinds of cache.
inline constexpr std::array cached_by_any{
    CachedTensor{TensorId::past_key, TensorId::present_key},
    CachedTensor{TensorId::past_value, TensorId::present_value},
    CachedTensor{TensorId::past_compressed_kv, TensorId::present_compressed_kv},
    CachedTensor{TensorId::past_k_rot, TensorId::present_k_rot}};
// The past before `id`, if that is one of the present; whether an id is one of either.
std::optional<TensorId> past_before(TensorId id);
bool is_past(TensorId id);

// What the heads of multi_head_latent_attention, or their scores and sums, are made of.
TensorId latents_of_heads(const AttentionOptions& options);
TensorId rotated_keys_of_heads(const AttentionOptions& options);

// The factors of the scores: the last of their paths. A tensor that a comparison has put there counts,
// whatever the options say.
const TensorPtr& queries_of_scores(const TraceTensors& tensors, const AttentionOptions& options);
const TensorPtr& keys_of_scores(const TraceTensors& tensors, const AttentionOptions& options);
// Likewise of the weighted sum.
const TensorPtr& values_of_sum(const TraceTensors& tensors);
// The sum itself: head_output, or latent_output in the absorbed layout.
TensorId sum_of_values(const AttentionOptions& options);

}  // namespace headwise
