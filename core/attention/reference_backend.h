// The reference: plain, keeps every intermediate, and is what the fast backends are tested against.
#pragma once

#include "core/attention/trace.h"

namespace headwise {

// Bytes of all tensors that the forward pass creates in addition to its inputs; throws Error(memory)
// on overflow.
Index reference_trace_bytes(const AttentionInputs& inputs);

// The forward pass, F.multi_head_attention_forward or F.scaled_dot_product_attention. Checks the inputs and
// the memory first. Stages whose key equals the one in `previous` share its tensor; `previous` may be null.
// In f32 every number is the f64 one rounded (rounded_trace.h), or, in large traces and where f32 overflows,
// every sum is accumulated in double and rounded once. If a stage changes nothing, both names hold the same
// tensor: masked_scores is scaled_scores without masks, dropped_weights is attn_weights without dropout.
// options.head_gain becomes tensors.head_gain, if that is null, and options.sink becomes tensors.sinks.
TracePtr reference_forward(const AttentionInputs& inputs, const Trace* previous = nullptr);

// The backward pass: d(loss)/d(each tensor), loss = Σ grad_output · the last output (the last of output,
// residual_output and layer_norm_output that the trace has). The returned trace shares everything with
// `forward` and has its `grad` filled. Null `grad_output`: all ones. Throws Error(input) if it does not have
// the shape and type of the last output, Error(memory) before any work. A gradient has the shape of its
// tensor; that of a given mask is summed over the axes along which the mask repeats; boolean masks,
// valid_lens and attn_output_weights have none. In self-attention (query, key and value are one array)
// grad.query is the total, grad.key and grad.value are null. A parameter that was given but not used (W_k
// with static_k) gets zeros.
//
// As in the forward pass, a gradient whose sources are those of `previous`, an earlier trace with a backward
// pass or null, is shared with it: `forward` must have been computed with that trace as `previous` too, so
// that its tensors are the same ones. An equal grad_output counts as the same. trace.computed_gradients lists
// the gradients that were computed; after an edit of out_proj.bias there are none.
// If nothing changes along the way, two gradients hold the same tensor: grad.scaled_scores is
// grad.masked_scores unless scores are filled, grad.mask_bias is grad.scaled_scores.
TracePtr reference_backward(const Trace& forward, const TensorPtr& grad_output = nullptr,
                            const Trace* previous = nullptr);

// The tensors in f64; masks keep their type, shared tensors stay shared.
TraceTensors widened(const TraceTensors& tensors);

// What follows is private to core/attention.

// reference_forward of inputs that have been checked.
TracePtr forward_of_checked(const AttentionInputs& inputs, const Trace* previous);

// Makes tensors of options.head_gain and options.sink where `trace` has none: those of `previous` if they
// hold the same numbers, since they then count as an equal source. Null gains: all 1.
void add_numbers_of_heads(Trace& trace, const Trace* previous);

// An f32 trace as the f64 one, rounded: every number in it is the nearest float to the exact one, so that its
// error never exceeds that of a program that computes in f32. Rounding after each stage instead would feed
// rounded scores to a softmax which, where it saturates, amplifies their error a thousandfold.

// Above this limit no f64 twin is computed, and each stage is rounded separately. Tuned for memory: a trace
// of 128 MiB needs another 256 MiB for its twin. With so many cells errors no longer depend on luck: measured
// at E = 512, H = 8, L = S = 1600, with scores up to some hundreds, the largest error of output, weights and
// gradients was at most 0.2 of PyTorch's own in f32.
inline constexpr Index exact_twin_bytes_limit = Index{256} << 20;

// The forward pass of f32 inputs, which must already have been checked. Shares with `previous` (may be null)
// what its twin shares with that of `previous`; keeps the twin as Trace::exact. Null if the twin would exceed
// the limit or the memory, or if a number is finite in f64 and infinite in f32: then each stage must overflow
// on its own, as it does elsewhere.
TracePtr rounded_forward(const AttentionInputs& inputs, const Trace* previous,
                         Index twin_bytes_limit = exact_twin_bytes_limit);

// The backward pass of forward.exact, rounded; `grad_output` (f32) must already have been checked. Shares
// with `previous` (may be null) what its twin shares with that of `previous`; the twin, with its gradients,
// is Trace::exact. Null if there is no twin, or if a gradient overflows f32.
TracePtr rounded_backward(const Trace& forward, const TensorPtr& grad_output, const Trace* previous);

}  // namespace headwise
