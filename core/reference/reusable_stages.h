// Which stages a run may take over from the one before it. Arrays are the same where they are one array, not merely equal.
// Each rule speaks of one stage and holds where what comes before that stage is alike.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Whether q, k and v are made of query, key and value in the same way: with the same sizes, by the same parameters.
bool have_same_projection_parameters(const Trace& before, const AttentionInputs& inputs);
// Whether q, k and v are alike: the inputs are the same too.
bool have_same_projections(const Trace& before, const AttentionInputs& inputs);
// Where q, k and v are alike: whether head_output, attn_weights and dropped_weights are. Masks, frozen heads and all
// options are the same but for those that are read later: head_gain, residual, layer_norm, need_weights, average_attn_weights.
bool have_same_attention(const Trace& before, const AttentionInputs& inputs);
// Where head_output is alike: whether output is, by the same gains and parameters.
bool have_same_output(const Trace& before, const AttentionInputs& inputs);

}  // namespace headwise
