// Rotary position embedding (Su et al., "RoFormer", 2021, section 3.2.2): queries and keys are rotated by an
// angle that grows with their position, so that q·k depends on the distance between the two, not on where
// they are. Pairs are halves as in Llama, Mistral and Hugging Face's rotate_half, or neighbours as RoFormer
// has them: the same up to the order of the rows of the projection.
#pragma once

#include <cmath>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/tensor/tensor.h"

namespace headwise {

// The angle of pair j per position, in radians: base^(−2j/R), j in [0, R/2). `rotary_width` R is the width
// that is rotated, usually D. Throws Error(usage) if R is odd or below 2,
// or base is not a finite number above 0.
std::vector<double> rotary_inverse_frequencies(Index rotary_width, double base = 10000.0);

inline bool has_rotary_embedding(const AttentionOptions& options) {
  return options.rotary_base.has_value() || !options.rotary_inverse_frequencies.empty();
}

// How rows of q and k are rotated. Pair j of columns turns by position · inverse_frequencies[j] radians.
struct Rotation {
  std::vector<double> inverse_frequencies;  // one for each pair; none: nothing is rotated
  RotaryPairs pairs = RotaryPairs::halves;
  double factor = 1.0;  // of cos and sin
  Index first = 0;      // the first column that is rotated: the columns below count from here

  explicit operator bool() const { return !inverse_frequencies.empty(); }
  Index count() const { return static_cast<Index>(inverse_frequencies.size()); }  // R/2
  // Pair j is columns j·step() and j·step() + apart().
  Index step() const { return pairs == RotaryPairs::halves ? 1 : 2; }
  Index apart() const { return pairs == RotaryPairs::halves ? count() : 1; }
  Index pair_of(Index column) const {
    return pairs == RotaryPairs::halves ? (column - first) % count() : (column - first) / 2;
  }

  double angle(Index position, Index pair) const {
    return static_cast<double>(position) * inverse_frequencies[static_cast<std::size_t>(pair)];
  }
  double cosine(Index position, Index pair) const { return factor * std::cos(angle(position, pair)); }
  double sine(Index position, Index pair) const { return factor * std::sin(angle(position, pair)); }
  // What identifies it, as numbers.
  std::vector<double> numbers() const;
  friend bool operator==(const Rotation&, const Rotation&) = default;
};

// What the options request: D/2 frequencies from rotary_base, or those given. In multi_head_latent_attention
// only the last R columns of q are rotated, and R columns of kv_a, which k_rot holds alone.
Rotation rotation_of(const AttentionOptions& options);
Rotation rotation_of_keys(const AttentionOptions& options);
// The columns that rotary_base is for: D, or R.
Index rotary_width(const AttentionOptions& options);

// The position of query 0 if key 0, of the past if there is one, is at position 0: as for ALiBi and windows
// without nonpad_kv_seqlen. The first key that is projected is at the length of the past.
Index rotary_first_query(const AttentionOptions& options, Index queries, Index keys);
Index rotary_first_key(const AttentionOptions& options);

// (…,T,D) → (…,T,D). For the columns a, b of pair j and the angle θ of position first_position + t:
//   out[t,a] = (x[t,a]·cos θ − x[t,b]·sin θ)·factor
//   out[t,b] = (x[t,b]·cos θ + x[t,a]·sin θ)·factor; columns before rotation.first and from R on behind it
// stay.
// f32 or f64; angles and sums are double, rounded once. Throws Error(usage) if R > D or the rank is below 2.
Tensor rotary_embedding(const Tensor& x, const Rotation& rotation, Index first_position = 0);

// d(loss)/d(x) from d(loss)/d(out): the rotation in reverse.
Tensor rotary_embedding_gradient(const Tensor& grad_out, const Rotation& rotation, Index first_position = 0);

}  // namespace headwise
