// Rows of q and k turned by their positions (core/attention/rotary_embedding.h) before a pass over the keys, in f32.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/tensor/task_threads.h"
#include "core/trace/attention_sizes.h"

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

// q and k of one run, turned beside what they were.
class FusedTurns {
 public:
  FusedTurns(const AttentionOptions& options, const AttentionSizes& sizes);
  explicit operator bool() const { return of_q_.has_value(); }  // whether the options turn anything

  // `groups` and `heads` as in TurnedRows.
  struct Rows {
    TensorPtr rows;
    Index groups, heads;
  };
  // Tasks that make q() and k().
  std::vector<TaskPhase> turn(const Rows& q, const Rows& k);
  const TensorPtr& q() const { return q_; }
  const TensorPtr& k() const { return k_; }

 private:
  TaskPhase turn(const FusedRotary& rotary, const Rows& rows, Index tokens, TensorPtr& turned) const;

  AttentionSizes sizes_;
  std::optional<FusedRotary> of_q_, of_k_;
  TensorPtr q_, k_;
};

}  // namespace headwise
