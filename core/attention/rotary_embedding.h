// Rotary position embedding (Su et al., "RoFormer", 2021, section 3.2.2): queries and keys are rotated by an
// angle that grows with their position, so that q·k depends on the distance between the two, not on where
// they are. Pairs are half-split as in Llama, Mistral and Hugging Face's rotate_half: column j is rotated
// together with column j + R/2. (RoFormer's own pairs, columns 2j and 2j + 1, are the same up to the order of
// the rows of the projection.)
#pragma once

#include <span>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/tensor/tensor.h"

namespace headwise {

// The angle of pair j per position, in radians: base^(−2j/R), j in [0, R/2). `rotary_width` R is the width
// that is rotated, usually D. Throws Error(usage) if R is odd or below 2,
// or base is not a finite number above 0.
std::vector<double> rotary_inverse_frequencies(Index rotary_width, double base = 10000.0);

// How Llama 3.1 stretches its frequencies for longer texts (rope_scaling of type "llama3" in config.json):
// slow pairs are divided by `factor`, fast ones stay,
// and between the two wavelengths it interpolates linearly.
struct Llama3FrequencyScaling {
  double factor = 8.0;            // > 0
  double low_freq_factor = 1.0;   // slower than original / low: divided
  double high_freq_factor = 4.0;  // > low_freq_factor; faster than original / high: unchanged
  double original_max_position_embeddings = 8192.0;  // > 0
};
std::vector<double> scaled_inverse_frequencies(std::vector<double> inverse_frequencies,
                                               const Llama3FrequencyScaling& scaling);

inline bool has_rotary_embedding(const AttentionOptions& options) {
  return options.rotary_base.has_value() || !options.rotary_inverse_frequencies.empty();
}

// The frequencies that the options request: D/2 from rotary_base, or those given; empty: nothing is rotated.
std::vector<double> rotary_inverse_frequencies(const AttentionOptions& options);

// The position of query 0 if key 0 is at position 0: as for ALiBi and the sliding window, 0 (top_left)
// or S − L (bottom_right).
Index rotary_first_query(const AttentionOptions& options, Index queries, Index keys);

// (…,T,D) → (…,T,D). With R = 2·inverse_frequencies.size(), p = first_position + t and θ =
// p·inverse_frequencies[j]:
//   out[t,j]       = x[t,j]·cos θ − x[t,j+R/2]·sin θ
//   out[t,j+R/2]   = x[t,j+R/2]·cos θ + x[t,j]·sin θ          for j < R/2; columns from R on stay.
// f32 or f64; angles and sums are double, rounded once. Throws Error(usage) if R > D or the rank is below 2.
Tensor rotary_embedding(const Tensor& x, std::span<const double> inverse_frequencies, Index first_position = 0);

// d(loss)/d(x) from d(loss)/d(out): the rotation in reverse.
Tensor rotary_embedding_gradient(const Tensor& grad_out, std::span<const double> inverse_frequencies,
                                 Index first_position = 0);

}  // namespace headwise
