// Rows of q and k on their way to the scores (core/attention/score_path.h), in f32: normalised and rotated
// by their positions, a token at a time, before a pass over the keys.
#pragma once

#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/norm.h"
#include "core/attention/rotary_embedding.h"
#include "core/tensor/task_threads.h"

namespace headwise {

// A token's rows in place: `heads` adjacent heads of `width` numbers.
struct TokenRows {
  float* first;
  Index token, heads, width;
};

// cos and sin of positions [first_position, first_position + tokens).
class FusedRotary {
 public:
  FusedRotary(const Rotation& rotation, Index first_position, Index tokens);
  void rotate(const TokenRows& rows) const;

 private:
  Index pairs_, step_, apart_;
  std::vector<float> cosines_, sines_;  // (tokens, pairs)
};

// The norms of a token's heads, or of all of them as one row.
class FusedNorm {
 public:
  // `weight` as in normalised(), or null.
  FusedNorm(const Norm& norm, bool whole, const Tensor* weight);
  void normalise(const TokenRows& rows) const;

 private:
  Norm norm_;
  bool whole_;
  std::vector<float> gains_;  // of a row, or of each head's; empty: all 1
};

// q and k of one run, in separate buffers.
class FusedRowPath {
 public:
  FusedRowPath(const AttentionOptions& options, const AttentionSizes& sizes, const TraceTensors& tensors);
  explicit operator bool() const { return q_.changes || k_.changes; }  // whether there is anything to do

  // Rows of tokens in each of `groups`, with `heads` adjacent heads: (N,T,H·D), or with one head (N·H,T,D).
  struct Rows {
    TensorPtr rows;
    Index groups, heads;
  };
  // Tasks that compute q() and k().
  std::vector<TaskPhase> follow(const Rows& q, const Rows& k);
  const TensorPtr& q() const { return q_.made; }
  const TensorPtr& k() const { return k_.made; }

 private:
  struct Side {
    bool changes = false;
    std::vector<FusedNorm> before, after;  // the rotation; at most one of them
    std::vector<FusedRotary> rotary;       // one or none
    Index tokens = 0;
    TensorPtr made;
  };
  Side side(const AttentionOptions& options, Index first_position, Index tokens, const TensorPtr& weight) const;
  TaskPhase follow(Side& side, const Rows& rows) const;

  Index head_dim_;
  Side q_, k_;
};

// The keys or values of a past and, after them, those of this run: heads (N,G,S′,D), or rows (N,S′,G·D) of
// a module. `present` is there at once, its numbers after the tasks, which read both of the others.
struct PastRows {
  TensorPtr present;
  TaskPhase tasks;
};
PastRows append_to_past(const Tensor& past, const Tensor& now, const AttentionSizes& sizes);

}  // namespace headwise
