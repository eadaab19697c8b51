// Multi-head latent attention on the fast path: its linear layers as those before and after any attention,
// and what is between them and the scores by the reference's stages, in f32.
#pragma once

#include "core/attention/attention_sizes.h"
#include "core/attention/linear.h"
#include "core/attention/trace.h"

namespace headwise {

// x·Wᵀ + b of x (N,T,depth), in `out` (N,T,features).
Tensor fused_linear(const Tensor& x, const LinearRows& rows, Shape out);

// Puts what the weighted sum is made of into `tensors`, and after the sum the output and what it is made of.
void make_latent_heads(TraceTensors& tensors, const AttentionOptions& options, const AttentionSizes& sizes);
void make_latent_output(TraceTensors& tensors, const AttentionOptions& options, const AttentionSizes& sizes);

// That attention as one of heads that are given: grouped, in the absorbed layout, with one key head of C + R
// columns whose values are its first C. Masks and positions are as in `options`.
struct LatentHeads {
  AttentionOptions options;
  AttentionSizes sizes;
  TraceTensors tensors;
};
LatentHeads latent_heads(const TraceTensors& tensors, const AttentionOptions& options,
                         const AttentionSizes& sizes);

}  // namespace headwise
