// Rows of q and k rotated by their positions (core/attention/rotary_embedding.h)
// before a pass over the keys, in f32.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/tensor/task_threads.h"

namespace headwise {

// Rows of `tokens` tokens in each of `groups`, with `heads` adjacent heads of `width` numbers: (N,T,H·D), or
// with one head (N·H,T,D).
struct RotatedRows {
  const float* from;
  float* to;  // may be `from`
  Index groups, tokens, heads, width;
};

// cos and sin of positions [first_position, first_position + tokens).
class FusedRotary {
 public:
  FusedRotary(std::span<const double> inverse_frequencies, Index first_position, Index tokens);

  // Rotates all rows. Reads this object while the tasks run.
  TaskPhase rotate(const RotatedRows& rows) const;

 private:
  void rotate_token(const RotatedRows& rows, Index group, Index token) const;

  Index pairs_;
  std::vector<float> cosines_, sines_;  // (tokens, pairs)
};

// q and k of one run, rotated into separate buffers.
class FusedRotations {
 public:
  FusedRotations(const AttentionOptions& options, const AttentionSizes& sizes);
  explicit operator bool() const { return of_q_.has_value(); }  // whether the options rotate anything

  // `groups` and `heads` as in RotatedRows.
  struct Rows {
    TensorPtr rows;
    Index groups, heads;
  };
  // Tasks that compute q() and k().
  std::vector<TaskPhase> rotate(const Rows& q, const Rows& k);
  const TensorPtr& q() const { return q_; }
  const TensorPtr& k() const { return k_; }

 private:
  TaskPhase rotate(const FusedRotary& rotary, const Rows& rows, Index tokens, TensorPtr& rotated) const;

  AttentionSizes sizes_;
  std::optional<FusedRotary> of_q_, of_k_;
  TensorPtr q_, k_;
};

}  // namespace headwise
