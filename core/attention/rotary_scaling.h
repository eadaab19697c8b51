// How rotary frequencies are stretched for texts longer than those of training: rope_scaling of config.json,
// rope_parameters in newer files, as transformers' modeling_rope_utils computes it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/rotary_embedding.h"

namespace headwise {

enum class RotaryScalingKind {
  linear,    // every frequency divided by the factor
  dynamic,   // NTK: a larger base, beyond the length of training only
  llama3,    // slow pairs divided by the factor, fast ones unchanged, and a blend between two wavelengths
  yarn,      // the same with a ramp that is linear in the pair, and longer rows (Peng et al., 2023)
  longrope,  // each frequency divided by a number of its own (Ding et al., 2024)
};
// Their names as config.json's rope_type has them.
inline constexpr std::array<std::string_view, 5> rotary_scaling_names{"linear", "dynamic", "llama3", "yarn",
                                                                      "longrope"};
inline std::string_view name_of(RotaryScalingKind kind) {
  return rotary_scaling_names[static_cast<std::size_t>(kind)];
}

struct RotaryScaling {
  RotaryScalingKind kind = RotaryScalingKind::linear;
  std::optional<double> factor;                            // s > 0; longrope and yarn may leave it open
  std::optional<double> original_max_position_embeddings;  // L₀, the length of training
  double low_freq_factor = 1.0, high_freq_factor = 4.0;    // llama3: wavelengths L₀/low and L₀/high
  double beta_fast = 32.0, beta_slow = 1.0;      // yarn: rotations within L₀ where the ramp begins and ends
  bool truncate = true;                          // yarn: the ramp's ends are whole pairs
  std::optional<double> attention_factor;        // of cos and sin; null: derived
  std::optional<double> mscale, mscale_all_dim;  // yarn: attention_factor is m(mscale) / m(mscale_all_dim)
  std::optional<double> partial_rotary_factor;   // the share of a head's columns that turns; null: all
  std::vector<double> short_factor, long_factor;  // longrope: up to L₀ tokens and beyond, one for each pair
  friend bool operator==(const RotaryScaling&, const RotaryScaling&) = default;
};

// The members by their keys in config.json, and the kinds that read them, as bits:
// visit(key, member, 1 << kind | …).
template <class Scaling, class Visit>
void visit_rotary_scaling(Scaling& s, Visit&& visit) {
  constexpr auto bit = [](auto... kinds) { return ((1U << static_cast<unsigned>(kinds)) | ...); };
  using enum RotaryScalingKind;
  visit("factor", s.factor, bit(linear, dynamic, llama3, yarn, longrope));
  visit("original_max_position_embeddings", s.original_max_position_embeddings,
        bit(dynamic, llama3, yarn, longrope));
  visit("low_freq_factor", s.low_freq_factor, bit(llama3));
  visit("high_freq_factor", s.high_freq_factor, bit(llama3));
  visit("beta_fast", s.beta_fast, bit(yarn));
  visit("beta_slow", s.beta_slow, bit(yarn));
  visit("truncate", s.truncate, bit(yarn));
  visit("attention_factor", s.attention_factor, bit(yarn, longrope));
  visit("mscale", s.mscale, bit(yarn));
  visit("mscale_all_dim", s.mscale_all_dim, bit(yarn));
  visit("partial_rotary_factor", s.partial_rotary_factor, bit(linear, dynamic, llama3, yarn, longrope));
  visit("short_factor", s.short_factor, bit(longrope));
  visit("long_factor", s.long_factor, bit(longrope));
}

// A share of D columns as their number, rounded down; 0 if that is odd or more than D.
Index columns_of_share(double share, Index columns);

// What is missing or contradicts the rest for a head of which `rotary_width` R columns are rotated, as a
// sentence without its subject: "has no factor"; empty if it can be computed.
std::string rotary_scaling_problem(const RotaryScaling& scaling, Index rotary_width);

// The rotation of R columns by `base`, stretched, where `tokens` positions are computed at once. Its factor
// is the attention_factor. The scaling must have no problem.
Rotation scaled_rotation(const RotaryScaling& scaling, Index rotary_width, double base, Index tokens);

// How many positions a pass reaches: that of the last key, or of the last query where it is farther.
Index rotary_tokens(const AttentionOptions& options, Index queries, Index keys);

// Whether the rotation depends on the number of tokens, and from how many on: above this it is another.
std::optional<Index> rotary_scaling_limit(const RotaryScaling& scaling);

// m(mscale_all_dim) of yarn, by whose square DeepSeek multiplies the scale of its scores; else 1.
double yarn_length_of_scale(const RotaryScaling& scaling);

}  // namespace headwise
