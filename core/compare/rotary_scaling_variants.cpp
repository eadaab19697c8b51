// RoPE that is stretched otherwise than ours: not at all, in another way, by another factor, for another
// length of training. A program reads the same config.json, and takes one key of it for another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/compare/program_variants.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Kind = RotaryScalingKind;

// The object as config.json has it, without what is its default.
std::string object_text(const RotaryScaling& scaling) {
  std::string text = fmt::format("{{\"rope_type\":\"{}\"", name_of(scaling.kind));
  const RotaryScaling unset;
  visit_rotary_scaling(scaling, [&]<class T>(const char* key, const T& value, unsigned kinds) {
    if ((kinds >> static_cast<unsigned>(scaling.kind) & 1U) == 0) return;
    bool is_default = false;
    visit_rotary_scaling(unset, [&]<class U>(const char* other, const U& usual, unsigned) {
      if constexpr (std::is_same_v<T, U>)
        is_default = is_default || (other == std::string(key) && usual == value);
    });
    if (is_default) return;
    if constexpr (std::is_same_v<T, std::vector<double>>) {
      std::vector<std::string> numbers;
      for (const double number : value) numbers.push_back(fmt::format("{}", number));
      text += fmt::format(",\"{}\":[{}]", key, join(numbers, ","));
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      text += fmt::format(",\"{}\":{}", key, *value);
    } else {
      text += fmt::format(",\"{}\":{}", key, value);
    }
  });
  return text + "}";
}

std::string set_to(const RotaryScaling& scaling) {
  return fmt::format("--set 'attention.rotary_scaling={}'", object_text(scaling));
}

Change turned_by(const Rotation& rotation, double factor_besides) {
  return [rotation, factor_besides](AttentionInputs& other) {
    other.options.rotary_base.reset();
    other.options.rotary_inverse_frequencies = rotation.inverse_frequencies;
    other.options.rotary_factor = rotation.factor * factor_besides;
  };
}

// Ours, and what it is computed for.
struct Stretch {
  const RotaryScaling& ours;
  double base;
  Index width, tokens;
  double besides = 1.0;  // rotary_factor, without the scaling's own factor

  Stretch(const AttentionInputs& inputs, const AttentionOptions& o, const StretchedRope& stretched)
      : ours(stretched.scaling),
        base(stretched.base),
        width(columns_of_share(ours.partial_rotary_factor.value_or(1.0), rotary_width(o))) {
    const AttentionSizes sizes = attention_sizes(inputs);
    tokens = rotary_tokens(o, sizes.queries, sizes.keys);
    besides = o.rotary_factor / rotation(ours).factor;
  }
  Rotation rotation(const RotaryScaling& scaling) const {
    return scaled_rotation(scaling, width, base, tokens);
  }
  bool is_long() const {
    return static_cast<double>(tokens) > ours.original_max_position_embeddings.value_or(0);
  }
};

// Each rotation is tried under the first of its names.
class StretchVariants {
 public:
  StretchVariants(const Stretch& stretch, ProgramVariants& variants)
      : stretch_(stretch), variants_(variants) {
    tried_.push_back(stretch.rotation(stretch.ours));
  }

  void add(std::string text, std::string remedy, const Rotation& rotation) {
    if (std::ranges::find(tried_, rotation) != tried_.end()) return;
    tried_.push_back(rotation);
    variants_.push_back({std::move(text), std::move(remedy), turned_by(rotation, stretch_.besides)});
  }

  template <class Edit>
  void add(const std::string& text, Edit&& edit, bool has_remedy = true) {
    RotaryScaling other = stretch_.ours;
    edit(other);
    if (!rotary_scaling_problem(other, stretch_.width).empty()) return;
    add(text, has_remedy ? set_to(other) : "", stretch_.rotation(other));
  }

 private:
  const Stretch& stretch_;
  ProgramVariants& variants_;
  std::vector<Rotation> tried_;
};

void add_factors(const RotaryScaling& s, StretchVariants& variants) {
  if (!s.factor) return;
  const double own = *s.factor;
  for (const double factor : {own / 2, own * 2, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0})
    variants.add(fmt::format("the factor of the RoPE scaling is {:g}, not {:g}", factor, own),
                 [=](RotaryScaling& other) { other.factor = factor; });
}

// The length of training, and that of the stretched text, one for the other.
void add_lengths(const RotaryScaling& s, StretchVariants& variants) {
  if (!s.factor || !s.original_max_position_embeddings) return;
  const double own = *s.original_max_position_embeddings;
  for (const double size : {own * *s.factor, own / *s.factor})
    variants.add(
        fmt::format("original_max_position_embeddings of the RoPE scaling is {:.9g}, not {:.9g}", size, own),
        [=](RotaryScaling& other) { other.original_max_position_embeddings = size; });
}

void add_yarn(const RotaryScaling& s, StretchVariants& variants) {
  variants.add(s.truncate ? "the ends of YaRN's ramp are not rounded to whole pairs: truncate is false"
                          : "the ends of YaRN's ramp are rounded to whole pairs: truncate is true",
               [](RotaryScaling& other) { other.truncate = !other.truncate; });
  variants.add("beta_fast and beta_slow of YaRN are 32 and 1", [](RotaryScaling& other) {
    other.beta_fast = 32.0;
    other.beta_slow = 1.0;
  });
  variants.add("the RoPE scaling ignores mscale and mscale_all_dim", [](RotaryScaling& other) {
    other.mscale.reset();
    other.mscale_all_dim.reset();
  });
}

void add_lists(const Stretch& stretch, StretchVariants& variants) {
  const bool is_long = stretch.is_long();
  variants.add(
      is_long ? "longrope takes short_factor, not long_factor" : "longrope takes long_factor, not short_factor",
      [](RotaryScaling& other) { std::swap(other.short_factor, other.long_factor); }, false);
}

}  // namespace

void add_rotary_scaling_variants(const AttentionInputs& inputs, const std::optional<StretchedRope>& stretched,
                                 ProgramVariants& variants) {
  const AttentionOptions o = resolved_options(inputs);
  if (!stretched || o.rotary_inverse_frequencies.empty()) return;
  const RotaryScaling& s = stretched->scaling;
  const Stretch stretch(inputs, o, *stretched);
  StretchVariants found(stretch, variants);
  found.add("RoPE is not scaled", "--set attention.rotary_scaling=null",
            Rotation{rotary_inverse_frequencies(stretch.width, stretch.base)});
  if (s.kind == Kind::yarn || s.kind == Kind::longrope) {
    const double own = stretch.rotation(s).factor;
    found.add(
        fmt::format("cos and sin are not multiplied by {:.9g}, the attention_factor of a scaled RoPE", own),
        [](RotaryScaling& other) { other.attention_factor = 1.0; });
    found.add("the attention_factor of the RoPE scaling is derived from its factor, not given",
              [](RotaryScaling& other) { other.attention_factor.reset(); });
  }
  for (std::size_t i = 0; i < rotary_scaling_names.size(); ++i) {
    const auto kind = static_cast<Kind>(i);
    found.add(fmt::format("the RoPE scaling is {}, not {}", name_of(kind), name_of(s.kind)),
              [=](RotaryScaling& other) { other.kind = kind; });
  }
  if (s.kind == Kind::yarn) add_yarn(s, found);
  if (s.kind == Kind::llama3)
    found.add("low_freq_factor and high_freq_factor of the RoPE scaling are 1 and 4", [](RotaryScaling& other) {
      other.low_freq_factor = 1.0;
      other.high_freq_factor = 4.0;
    });
  if (s.kind == Kind::longrope) add_lists(stretch, found);
  add_factors(s, found);
  add_lengths(s, found);
  if (!s.factor || stretch.width == 2) return;
  const auto width = static_cast<double>(stretch.width);
  const double base = stretch.base * std::pow(*s.factor, width / (width - 2.0));
  found.add(
      fmt::format("the base of RoPE is {:.9g}, which NTK-aware scaling derives from {:g} and the factor {:g}",
                  base, stretch.base, *s.factor),
      fmt::format("--set attention.rotary_base={:.17g} --set attention.rotary_scaling=null", base),
      Rotation{rotary_inverse_frequencies(stretch.width, base)});
}

void add_fitted_stretch(const AttentionInputs& inputs, const StretchedRope& stretched,
                        std::vector<FittedVariant>& fits) {
  const AttentionOptions o = resolved_options(inputs);
  if (!stretched.scaling.factor || o.rotary_inverse_frequencies.empty()) return;
  fits.push_back({{0.5, 3, 12, 50}, [inputs, o, stretched](double number) -> ProgramVariant {
                    const Stretch stretch(inputs, o, stretched);
                    RotaryScaling other = stretched.scaling;
                    other.factor = number;
                    return {fmt::format("the factor of the RoPE scaling is {:.9g}, not {:g}", number,
                                        *stretched.scaling.factor),
                            set_to(other), turned_by(stretch.rotation(other), stretch.besides)};
                  }});
}

}  // namespace headwise
