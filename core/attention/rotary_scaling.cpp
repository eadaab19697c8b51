#include "core/attention/rotary_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headwise {
namespace {

using Kind = RotaryScalingKind;

// How much longer YaRN makes the rows of a text stretched by `factor`: 0.1·a·ln s + 1.
double yarn_length(double factor, double a) {
  return factor <= 1.0 ? 1.0 : 0.1 * a * std::log(factor) + 1.0;
}

double yarn_attention_factor(const RotaryScaling& s) {
  const double factor = s.factor.value_or(1.0);
  if (s.mscale && s.mscale_all_dim && *s.mscale != 0.0 && *s.mscale_all_dim != 0.0)
    return yarn_length(factor, *s.mscale) / yarn_length(factor, *s.mscale_all_dim);
  return yarn_length(factor, 1.0);
}

double longrope_attention_factor(const RotaryScaling& s) {
  const double factor = s.factor.value_or(1.0);
  return factor <= 1.0 ? 1.0
                       : std::sqrt(1.0 + std::log(factor) / std::log(*s.original_max_position_embeddings));
}

// The share of a frequency that is kept, 1 where a pair turns fast; the rest is divided by the factor.
double llama3_kept(const RotaryScaling& s, double frequency) {
  const double rotations = *s.original_max_position_embeddings * frequency / (2.0 * std::numbers::pi);
  return std::clamp((rotations - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor), 0.0, 1.0);
}

class YarnRamp {
 public:
  YarnRamp(const RotaryScaling& s, Index width, double base) {
    // The pair that turns this often within the length of training.
    const auto pair_of = [&](double rotations) {
      return static_cast<double>(width) *
             std::log(*s.original_max_position_embeddings / (rotations * 2.0 * std::numbers::pi)) /
             (2.0 * std::log(base));
    };
    const double first = pair_of(s.beta_fast), last = pair_of(s.beta_slow);
    begin_ = std::max(s.truncate ? std::floor(first) : first, 0.0);
    end_ = std::min(s.truncate ? std::ceil(last) : last, static_cast<double>(width - 1));
    if (begin_ == end_) end_ += 0.001;
  }
  double kept(Index pair) const {
    return 1.0 - std::clamp((static_cast<double>(pair) - begin_) / (end_ - begin_), 0.0, 1.0);
  }

 private:
  double begin_ = 0.0, end_ = 0.0;
};

bool is_beyond_training(const RotaryScaling& s, Index tokens) {
  return static_cast<double>(tokens) > *s.original_max_position_embeddings;
}

}  // namespace

double yarn_length_of_scale(const RotaryScaling& s) {
  return s.kind == Kind::yarn && s.mscale_all_dim ? yarn_length(s.factor.value_or(1.0), *s.mscale_all_dim)
                                                  : 1.0;
}

Index columns_of_share(double share, Index columns) {
  const double turned = std::floor(static_cast<double>(columns) * share);
  return share <= 1.0 && std::fmod(turned, 2.0) == 0.0 ? static_cast<Index>(turned) : 0;
}

std::string rotary_scaling_problem(const RotaryScaling& s, Index rotary_width) {
  if (!s.factor && s.kind != Kind::longrope)
    return "has no factor: give how many times longer texts are than in training";
  if (!s.original_max_position_embeddings && s.kind != Kind::linear)
    return "has no original_max_position_embeddings: give the length of the texts of training";
  if (s.kind == Kind::llama3 && s.high_freq_factor <= s.low_freq_factor)
    return fmt::format("has low_freq_factor = {:g}, which must be below high_freq_factor = {:g}",
                       s.low_freq_factor, s.high_freq_factor);
  if (s.kind == Kind::longrope) {
    if (*s.original_max_position_embeddings <= 1.0)
      return "has original_max_position_embeddings up to 1, whose logarithm longrope divides by";
    for (const auto& [key, list] :
         {std::pair("short_factor", &s.short_factor), {"long_factor", &s.long_factor}})
      if (static_cast<Index>(list->size()) != rotary_width / 2)
        return fmt::format(
            "has {} numbers in {}, but {} columns are rotated: write one number for each of the {} "
            "pairs",
            list->size(), key, rotary_width, rotary_width / 2);
  }
  if (s.kind == Kind::dynamic && rotary_width == 2)
    return "is dynamic, which needs more than one pair of columns";
  return "";
}

Rotation scaled_rotation(const RotaryScaling& s, Index rotary_width, double base, Index tokens) {
  const double factor = s.factor.value_or(1.0), width = static_cast<double>(rotary_width);
  if (s.kind == Kind::dynamic && is_beyond_training(s, tokens))
    base *=
        std::pow(factor * static_cast<double>(tokens) / *s.original_max_position_embeddings - (factor - 1.0),
                 width / (width - 2.0));
  Rotation rotation{rotary_inverse_frequencies(rotary_width, base)};
  const std::optional<YarnRamp> ramp =
      s.kind == Kind::yarn ? std::optional<YarnRamp>(std::in_place, s, rotary_width, base) : std::nullopt;
  for (Index pair = 0; pair < rotation.count(); ++pair) {
    const auto at = static_cast<std::size_t>(pair);
    double& frequency = rotation.inverse_frequencies[at];
    const auto divided = [&](double kept) { return frequency * (kept + (1.0 - kept) / factor); };
    switch (s.kind) {
      case Kind::linear:
        frequency /= factor;
        break;
      case Kind::dynamic:
        break;
      case Kind::llama3:
        frequency = divided(llama3_kept(s, frequency));
        break;
      case Kind::yarn:
        frequency = divided(ramp->kept(pair));
        break;
      case Kind::longrope:
        frequency /= (is_beyond_training(s, tokens) ? s.long_factor : s.short_factor)[at];
        break;
    }
  }
  if (s.kind == Kind::yarn) rotation.factor = s.attention_factor.value_or(yarn_attention_factor(s));
  if (s.kind == Kind::longrope) rotation.factor = s.attention_factor.value_or(longrope_attention_factor(s));
  return rotation;
}

Index rotary_tokens(const AttentionOptions& options, Index queries, Index keys) {
  return std::max(keys, rotary_first_query(options, queries, keys) + queries);
}

std::optional<Index> rotary_scaling_limit(const RotaryScaling& s) {
  if (s.kind != Kind::dynamic && s.kind != Kind::longrope) return std::nullopt;
  return static_cast<Index>(*s.original_max_position_embeddings);
}

}  // namespace headwise
