// An f32 trace as the f64 one, rounded: every number in it is the nearest float to the exact one, so that its error never exceeds
// that of a program that computes in f32. Rounding after each stage instead would feed rounded scores to a softmax which, where
// it saturates, amplifies their error a thousandfold.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Above this limit no f64 twin is computed, and each stage is rounded separately. Tuned for memory: a trace of 128 MiB needs
// another 256 MiB for its twin. With so many cells errors no longer depend on luck: measured at E = 512, H = 8, L = S = 1600,
// with scores up to some hundreds, the largest error of output, weights and gradients was at most 0.2 of PyTorch's own in f32.
inline constexpr Index exact_twin_bytes_limit = Index{256} << 20;

// The forward pass of f32 inputs, which must already have been checked. Shares with `previous` (may be null) what its twin shares
// with that of `previous`; keeps the twin as Trace::exact. Null if the twin would exceed the limit or the memory, or if a number
// is finite in f64 and infinite in f32: then each stage must overflow on its own, as it does elsewhere.
TracePtr rounded_forward(const AttentionInputs& inputs, const Trace* previous,
                         Index twin_bytes_limit = exact_twin_bytes_limit);

// The backward pass of forward.exact, rounded; `grad_output` (f32) must already have been checked. Shares with `previous` (may be
// null) what its twin shares with that of `previous`; the twin, with its gradients, is Trace::exact. Null if there is no twin, or
// if a gradient overflows f32.
TracePtr rounded_backward(const Trace& forward, const TensorPtr& grad_output, const Trace* previous);

}  // namespace headwise
