// The one list of the operator's stages, in order. The reference keeps every tensor of it (StageCache), its
// blocked form a few rows at a time (reference_parts.h), and core/compare recomputes what a change reaches.
// Other callers use reference_forward (reference_backend.h).
#pragma once

#include "core/attention/attention_sizes.h"
#include "core/attention/linear.h"
#include "core/attention/stage_cache.h"

namespace headwise {

// A forward pass in progress: what each of its stages reads, and who takes it.
struct ForwardPass {
  TraceTensors& tensors;  // the inputs, and what has been computed so far
  const AttentionOptions& options;
  const AttentionSizes& sizes;
  DType dtype;
  Stages& stages;
  // How a linear layer is computed: by the reference, or as a backend does.
  Tensor (*linear)(const Tensor& x, const LinearRows& rows, Shape out) = headwise::linear;
};

// All of it: F.multi_head_attention_forward, F.scaled_dot_product_attention or latent attention, from the
// inputs as prepare_inputs (reference_backend.h) leaves them to the output.
void attention(ForwardPass& pass);

// Its steps. make_heads are all those before the scores, of any of the operators: the next three, or
// project_latents. expand_latent_output is for the absorbed layout alone, behind the weighted sum.
// scaled_dot_product_attention begins at q_heads, k_heads and v_heads, and ends at head_output.
void make_heads(ForwardPass& pass);
void project_and_split(ForwardPass& pass);
void rotate_by_position(ForwardPass& pass);
void append_to_past(ForwardPass& pass);
void project_latents(ForwardPass& pass);
void scaled_dot_product_attention(ForwardPass& pass);
void expand_latent_output(ForwardPass& pass);
void merge_and_project(ForwardPass& pass);
void add_and_norm(ForwardPass& pass);

}  // namespace headwise
