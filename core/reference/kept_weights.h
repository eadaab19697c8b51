// What a fast backend adds to its trace where the weights are wanted.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Keeps attn_weights (N,H,L,S′), and what follows from it: dropped_weights and, where the options want it,
// attn_output_weights.
void keep_attn_weights(TraceTensors& tensors, const AttentionOptions& options, Tensor attn_weights);

// The same from a run before, whose attn_weights and dropped_weights are alike.
void keep_attn_weights_of(const TraceTensors& before, TraceTensors& tensors, const AttentionOptions& options);

}  // namespace headwise
