// Whether a fast backend computes what the reference does.
#pragma once

#include "core/trace/trace.h"

namespace headwise::test {

// The same arrays, rounded.
AttentionInputs as_f32(AttentionInputs inputs);

// Frozen heads are the reference's; the other options are a fast backend's too.
void let_heads_go(AttentionInputs& inputs);

// A module of these sizes with random numbers.
AttentionInputs sized_inputs(Index batch, Index queries, Index keys, Index heads, Index kv_heads, Index head_dim,
                             Index v_head_dim);

// Checks that every intermediate of `got`, of which output is one, is that of `expected`: the sum of squared differences
// over that of the reference (NMSE) is at most `bound`, and cells that are no number are alike. Names the worst cell.
void check_agrees(const Trace& got, const Trace& expected, double bound = 1e-10);

}  // namespace headwise::test
