// Inputs of the bench: numbers of about the size that a layer sees, made quickly.
#pragma once

#include "core/attention/trace.h"

namespace headwise::gpu_bench {

// Of a module, self-attention of a batch of 1 in f32 with packed parameters.
AttentionInputs layer_inputs(Index embed_dim, Index num_heads, Index length, bool causal);
// Of F.scaled_dot_product_attention. `window`: a sliding window; 0: none.
AttentionInputs attention_inputs(Index num_heads, Index queries, Index keys, Index head_dim, bool causal,
                                 Index window = 0);

}  // namespace headwise::gpu_bench
