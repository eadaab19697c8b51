// Which stages a run may reuse from the previous one. Arrays count as the same if they are one array, not merely equal. Each
// function is about one stage and assumes that everything before that stage is unchanged.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Whether q, k and v are computed from query, key and value in the same way: with the same sizes and parameters.
bool have_same_projection_parameters(const Trace& before, const AttentionInputs& inputs);
// Whether q, k and v are unchanged: the inputs are the same too.
bool have_same_projections(const Trace& before, const AttentionInputs& inputs);
// If q, k and v are unchanged: whether head_output, attn_weights and dropped_weights are too. Masks, frozen heads and all
// options are the same except those read later: head_gain, residual, layer_norm, need_weights, average_attn_weights.
bool have_same_attention(const Trace& before, const AttentionInputs& inputs);
// If head_output is unchanged: whether output is too, with the same gains and parameters.
bool have_same_output(const Trace& before, const AttentionInputs& inputs);

}  // namespace headwise
