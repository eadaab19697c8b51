// What a fast backend adds to its trace if the weights are requested.
#pragma once

#include "core/attention/trace.h"

namespace headwise {

// Stores attn_weights (N,H,L,S′) and what follows from it: dropped_weights and, if the options request it,
// attn_output_weights.
void keep_attn_weights(TraceTensors& tensors, const AttentionOptions& options, Tensor attn_weights);

// The same with attn_weights and dropped_weights of an earlier run, which have not changed.
void keep_attn_weights_of(const TraceTensors& before, TraceTensors& tensors, const AttentionOptions& options);

}  // namespace headwise
