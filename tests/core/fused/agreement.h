// Whether a fast backend computes what the reference does.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace headwise::test {

// The same arrays, rounded.
AttentionInputs as_f32(AttentionInputs inputs);

// A module of these sizes with random numbers.
AttentionInputs sized_inputs(Index batch, Index queries, Index keys, Index heads, Index kv_heads,
                             Index head_dim, Index v_head_dim);

// What may come after a run of a module over `first`: edits of masks, scale, gains and frozen heads, which keep q, k and v, and others that
// do not.
struct FollowingInputs {
  std::string name;
  AttentionInputs inputs;
  bool keeps_projections = true;
};
std::vector<FollowingInputs> following_inputs(const AttentionInputs& first);

// Checks that every intermediate of `got`, of which output is one, is that of `expected`: the sum of squared differences
// over that of the reference (NMSE) is at most `bound`, and cells that are no number are alike. Names the worst cell.
void check_agrees(const Trace& got, const Trace& expected, double bound = 1e-10);

}  // namespace headwise::test
