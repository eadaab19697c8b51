// An f32 trace as the f64 one, rounded: every number in it is the nearest float to the exact one, so that its
// error is never above that of a program that computes in f32. Rounding after each stage instead would feed
// the rounded scores to a softmax that, where it saturates, multiplies their error a thousandfold.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Above this the f64 twin is not made, and each stage is rounded for itself. Tuned for memory: beside a trace
// of 128 MiB the twin is another 256. Errors of so many cells are no matter of luck any more: measured at
// E = 512, H = 8, L = S = 1600, with scores up to some hundreds, the largest of output, weights and gradients
// was at most 0.2 of PyTorch's own in f32.
inline constexpr Index exact_twin_bytes_limit = Index{256} << 20;

// The forward pass of f32 inputs, which must have been checked. Shares with `previous` (may be null) what its
// twin shares with that of `previous`; keeps the twin as Trace::exact. Null where the twin would be above the
// limit or beyond the memory, or where a number is finite in f64 and infinite in f32: then each stage must overflow by itself, as
// it does elsewhere.
TracePtr rounded_forward(const AttentionInputs& inputs, const Trace* previous,
                         Index twin_bytes_limit = exact_twin_bytes_limit);

// The backward pass of forward.exact, rounded; `grad_output` (f32) must have been checked. Shares with
// `previous` (may be null) what its twin shares with that of `previous`; the twin, with its gradients, is
// Trace::exact. Null where there is no twin, or where a gradient overflows f32.
TracePtr rounded_backward(const Trace& forward, const TensorPtr& grad_output, const Trace* previous);

}  // namespace headwise
