// The reference: plain, keeps every intermediate, is what the fast backends are tested against.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Shapes, types, options and their combinations; throws Error(input) that names both shapes and the likely cause. Inputs
// and parameters must be of the trace's dtype, masks bool, f32 or f64, frozen_weights f32 or f64, valid_lens i64.
void check_attention_inputs(const AttentionInputs& inputs);

// Bytes of all tensors that the forward pass makes beyond its inputs; throws Error(memory) where that
// overflows.
Index reference_trace_bytes(const AttentionInputs& inputs);

// The forward pass, F.multi_head_attention_forward or F.scaled_dot_product_attention. Checks the inputs and
// the memory first. Stages whose key equals the one in `previous` share its tensor; `previous` may be null.
// In f32 every number is the f64 one rounded (rounded_trace.h), or, in large traces and where f32 overflows,
// every sum is taken in double and rounded once. Where a stage changes nothing the two names hold the same
// tensor: masked_scores is scaled_scores without masks, dropped_weights is attn_weights without dropout.
// options.head_gain becomes tensors.head_gain, if that is null.
TracePtr reference_forward(const AttentionInputs& inputs, const Trace* previous = nullptr);

// The backward pass: d(loss)/d(each tensor), loss = Σ grad_output · the last output (layer_norm_output,
// residual_output or output, the last that the trace has). The trace that comes back shares everything with
// `forward` and has its `grad` filled. Null `grad_output`: all ones. Throws Error(input) where it has not the
// shape and type of the last output, Error(memory) before work. A gradient has the shape of its tensor; a
// given mask's is summed over the axes that the mask repeats along, and boolean masks, valid_lens and
// attn_output_weights have none. In self-attention (query, key and value are one array) grad.query is the
// total, grad.key and grad.value are null. A parameter that was given and not used (W_k beside static_k) gets
// zeros.
//
// As in the forward pass a gradient whose sources are those of `previous`, an earlier trace with a backward
// pass or null, is shared with it: `forward` must have been made beside that trace too, for its tensors to be
// the same ones. An equal grad_output counts as the same. trace.computed_gradients tells which gradients were
// computed; after an edit of out_proj.bias none are.
// Where nothing changes on the way two gradients hold the same tensor: grad.scaled_scores is
// grad.masked_scores unless scores are filled, grad.mask_bias is grad.scaled_scores.
TracePtr reference_backward(const Trace& forward, const TensorPtr& grad_output = nullptr,
                            const Trace* previous = nullptr);

}  // namespace headwise
