// What a fast backend adds to its trace.
#pragma once

#include "core/attention/trace.h"

namespace headwise {

// Stores attn_weights (N,H,L,S′) and what follows from it: dropped_weights and, if the options request it,
// attn_output_weights.
void keep_attn_weights(TraceTensors& tensors, const AttentionOptions& options, Tensor attn_weights);

// The same with attn_weights and dropped_weights of an earlier run, which have not changed.
void keep_attn_weights_of(const TraceTensors& before, TraceTensors& tensors, const AttentionOptions& options);

// What follows the output: residual_output and layer_norm_output, if the options have them.
void add_and_norm(TraceTensors& tensors, const AttentionOptions& options);

}  // namespace headwise
