// Whether a fast backend computes what the reference does.
#pragma once

#include <string>
#include <vector>

#include "core/attention/trace.h"

namespace headwise::test {

// The same arrays, rounded.
AttentionInputs as_f32(AttentionInputs inputs);

// A module of these sizes with random numbers.
AttentionInputs sized_inputs(Index batch, Index queries, Index keys, Index heads, Index kv_heads,
                             Index head_dim, Index v_head_dim);

// What may come after a run of a module over `first`, which has no static_k: every option and array by itself
// changed into another, by the first stage that has to be computed again.
enum class FirstStage {
  projections,
  some_tokens,   // q, k and v of few tokens
  equal_arrays,  // none, which is to be found out by their numbers
  attention,
  output,         // what head_output goes into
  behind_output,  // or nothing
};
struct FollowingInputs {
  std::string name;
  AttentionInputs inputs;
  FirstStage from;
};
std::vector<FollowingInputs> following_inputs(const AttentionInputs& first);

// Checks that every intermediate of `got`, of which output is one, is that of `expected`: the sum of squared
// differences over that of the reference (NMSE) is at most `bound`,
// and cells that are no number are alike. Names the worst cell.
void check_agrees(const Trace& got, const Trace& expected, double bound = 1e-10);

}  // namespace headwise::test
