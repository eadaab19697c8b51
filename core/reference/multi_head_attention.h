// The steps of the reference's forward pass, in order. Private to core/reference: a run that needs only some
// tensors takes the same steps (reference_parts.h),
// other callers use reference_forward (reference_backend.h).
#pragma once

#include <functional>

#include "core/attention/in_projection.h"
#include "core/attention/linear.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/reference/stage_cache.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

// A forward pass of the reference in progress: what each of its steps reads and writes.
struct ForwardPass {
  TraceTensors& tensors;  // the inputs, and what has been computed so far
  const AttentionOptions& options;
  const AttentionSizes& sizes;
  DType dtype;
  StageCache& cache;
};

// F.multi_head_attention_forward: from query, key and value to the output.
void multi_head_attention(ForwardPass& pass);

// F.scaled_dot_product_attention: from q_heads, k_heads and v_heads to head_output.
void scaled_dot_product_attention(ForwardPass& pass);

// The steps around it, which multi_head_attention takes.
void project_and_split(ForwardPass& pass);
void rotate_by_position(ForwardPass& pass);
void merge_and_project(ForwardPass& pass);
void add_and_norm(ForwardPass& pass);

// Updates for StageCache::stage that avoid recomputing a whole product: only rows and columns whose sources
// have changed are computed (core/attention/matrix_product.h).

// x·Wᵀ + b of `shape`, for a stage whose first source is x. `earlier_rows` finds W and b among the sources of
// the earlier stage; nullopt if that was a different product.
// `x` and `rows` must outlive the call of the update.
using EarlierRows = std::function<std::optional<LinearRows>(const StageKey& earlier)>;
StageCache::Update update_linear(const TensorPtr& x, const LinearRows& rows, Shape shape,
                                 EarlierRows earlier_rows);

// A product per head, attention_scores or weighted_sum, for a stage whose sources are its two factors.
using IncrementalHeads = ProductChange (*)(const Tensor& left, const Tensor& right,
                                           const EarlierHeads& earlier, Tensor& out);
StageCache::Update update_heads(const TensorPtr& left, const TensorPtr& right, Shape shape,
                                IncrementalHeads product);

// The first step:
// q, k or v (N,L,H·D), (N,S′,G·D), (N,S′,G·Dv): x·Wᵀ + b, or static_k or static_v with its heads side by
// side, and the rows appended by bias_k, bias_v and add_zero_attn. The matrix is either a range of rows of
// in_proj_weight or separate.
void input_projection(ForwardPass& pass, Projection which);

}  // namespace headwise
