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

}  // namespace headwise
