// Rows of q and k turned by their positions (core/attention/rotary_embedding.h) before a pass over the keys, in f32.
#pragma once

#include <span>
#include <vector>

#include "core/tensor/task_threads.h"

namespace headwise {

// Rows of `tokens` tokens in `groups` of them, each of `heads` neighbouring heads of `width` numbers: (N,T,H·D), or with one head
// (N·H,T,D).
struct TurnedRows {
  const float* from;
  float* to;  // may be `from`
  Index groups, tokens, heads, width;
};

// cos and sin of positions [first_position, first_position + tokens).
class FusedRotary {
 public:
  FusedRotary(std::span<const double> inverse_frequencies, Index first_position, Index tokens);

  // All of the rows. Reads this object while the tasks run.
  TaskPhase turn(const TurnedRows& rows) const;

 private:
  void turn_token(const TurnedRows& rows, Index group, Index token) const;

  Index pairs_;
  std::vector<float> cosines_, sines_;  // (tokens, pairs)
};

}  // namespace headwise
