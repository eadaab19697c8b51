#include "core/compare/mask_patterns.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"

namespace headwise {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr double large_negative = -1e9;
}  // namespace

Tensor merged_masks(const Trace& so_far, const MaskChoice& choice) {
  const TraceTensors& t = so_far.tensors;
  AttentionOptions options = so_far.options;
  GivenMasks given;
  if (choice.attn_mask) given.attn_mask = t.attn_mask.get();
  if (choice.padding) {
    given.key_padding_mask = t.key_padding_mask.get();
    given.valid_lens = t.valid_lens.get();
  }
  if (choice.by_position) given.nonpad_kv_seqlen = t.nonpad_kv_seqlen.get();
  if (!choice.by_position) {
    options.is_causal = options.alibi = false;
    options.relative_bias.reset();
    options.indexer.reset();
    drop_window(options);
  }
  given.indexer_scores = t.indexer_scores.get();
  given.relative_bias_weight = t.relative_bias_weight.get();
  const AttentionSizes sizes = attention_sizes(so_far.options, t);
  return merge_masks(options, given, sizes.scores_shape(), sizes.keys, DType::f64);
}

std::vector<Tensor> single_masks(const Trace& so_far, bool window_apart) {
  const AttentionOptions& o = so_far.options;
  Trace none = so_far;
  none.tensors.attn_mask = none.tensors.key_padding_mask = none.tensors.valid_lens =
      none.tensors.nonpad_kv_seqlen = nullptr;
  none.options.is_causal = none.options.alibi = false;
  none.options.relative_bias.reset();
  none.options.indexer.reset();
  drop_window(none.options);
  std::vector<Tensor> masks;
  const auto add = [&](bool there, const std::function<void(Trace&)>& keep) {
    if (!there) return;
    Trace alone = none;
    keep(alone);
    masks.push_back(merged_masks(alone, {}));
  };
  const auto keep_window = [&o](Trace& alone) {
    alone.options.sliding_window = o.sliding_window;
    alone.options.window_left = o.window_left;
    alone.options.window_right = o.window_right;
  };
  for (const auto member : {&TraceTensors::attn_mask, &TraceTensors::key_padding_mask,
                            &TraceTensors::valid_lens, &TraceTensors::nonpad_kv_seqlen})
    add(so_far.tensors.*member != nullptr,
        [&](Trace& alone) { alone.tensors.*member = so_far.tensors.*member; });
  add(o.is_causal, [&](Trace& alone) {
    alone.options.is_causal = true;
    if (!window_apart) keep_window(alone);
  });
  add(window_of(o).bounds() && (window_apart || !o.is_causal), keep_window);
  add(o.relative_bias.has_value(), [&](Trace& alone) { alone.options.relative_bias = o.relative_bias; });
  add(o.indexer.has_value(), [&](Trace& alone) { alone.options.indexer = o.indexer; });
  if (!o.alibi) return masks;
  Trace slopes = none;
  slopes.options.alibi = true;
  slopes.options.is_causal = o.is_causal;  // what is ahead then gets 0 from ALiBi
  masks.push_back(
      mapped_cells(merged_masks(slopes, {}), [](double bias) { return is_blocked(bias) ? 0.0 : bias; }));
  return masks;
}

StageChange masked_as(std::function<double(double score, double bias)> value) {
  return {TensorId::masked_scores, [value = std::move(value)](const Trace& so_far) {
            const Tensor& bias = required(so_far, TensorId::mask_bias);
            Tensor result = *so_far.tensors.scaled_scores;
            for (Index i = 0; i < result.size(); ++i) result.set_flat(i, value(result.flat(i), bias.flat(i)));
            return result;
          }};
}

StageChange alibi_with(std::vector<double> slopes) {
  return {TensorId::mask_bias, [slopes = std::move(slopes)](const Trace& so_far) {
            Trace without = so_far;
            without.options.alibi = false;
            const Tensor others = merged_masks(without, {});
            const AttentionSizes sizes = attention_sizes(so_far.options, so_far.tensors);
            const GivenMasks given = given_masks(so_far.tensors);
            const bool causal = so_far.options.is_causal;
            return refilled4(others, [&](const Cells& before, Index n, Index h, Index l, Index s) {
              const double bias = before(n, h, l, s);
              if (s >= sizes.keys) return bias;
              const Index own = l + causal_offset(so_far.options, given, n, sizes.queries, sizes.keys);
              return bias + alibi_bias(slopes[static_cast<std::size_t>(h)], own - s, causal);
            });
          }};
}

StageChange blocked_where(const MaskChoice& others, Blocks blocks) {
  return {TensorId::mask_bias, [others, blocks = std::move(blocks)](const Trace& so_far) {
            const Index keys = attention_sizes(so_far.options, so_far.tensors).keys;
            return refilled4(merged_masks(so_far, others),
                             [&](const Cells& before, Index n, Index h, Index l, Index s) {
                               return s < keys && blocks(n, h, l, s) ? -unbounded : before(n, h, l, s);
                             });
          }};
}

void add_with_row_answers(const AttentionOptions& options, const ProgramVariant& variant,
                          ProgramVariants& variants) {
  variants.push_back(variant);
  const bool zero = options.fully_masked_rows == FullyMaskedRows::zero;
  const auto add = [&](const Change& change, std::string detail) -> ProgramVariant& {
    ProgramVariant& other = variants.emplace_back(variant);
    other.change = followed_by(variant.change, change);
    other.detail = std::move(detail);
    return other;
  };
  add(
      [zero](AttentionInputs& inputs) {
        inputs.options.fully_masked_rows = zero ? FullyMaskedRows::nan : FullyMaskedRows::zero;
        inputs.options.mask_value.reset();
      },
      zero ? "rows whose keys are then all blocked become NaN"
           : "rows whose keys are then all blocked become 0");
  if (options.mask_value) return;
  add([](AttentionInputs& inputs) { inputs.options.mask_value = large_negative; },
      "blocked cells are filled with a large negative number, -1e9 say");
  ProgramVariant& added = add({}, "a large negative number is added to blocked cells, -1e9 say");
  added.stages.push_back({TensorId::masked_scores, [](const Trace& so_far) {
                            const Cells score(*so_far.tensors.scaled_scores);
                            return refilled4(*so_far.tensors.masked_scores, [&](const Cells& masked, Index n,
                                                                                Index h, Index l, Index s) {
                              const double cell = masked(n, h, l, s);
                              return is_blocked(cell) ? score(n, h, l, s) + large_negative : cell;
                            });
                          }});
}

namespace {

// A window that reaches differently far to the two sides of a query.
void add_windows(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions o = resolved_options(inputs);
  if (!o.sliding_window || inputs.tensors.nonpad_kv_seqlen) return;
  const AttentionSizes sizes = attention_sizes(inputs);
  const Index offset = causal_offset(o, sizes.queries, sizes.keys);
  const Index everything = sizes.queries + sizes.keys, width = std::min(*o.sliding_window, everything);
  const auto add = [&](std::string text, Index behind, Index ahead) {
    const auto is_outside = [=](Index, Index, Index l, Index s) {
      const Index distance = l + offset - s;
      return distance > behind || -distance > ahead;
    };
    const auto without_own = [](AttentionInputs& other) {
      other.options.is_causal = false;
      drop_window(other.options);
    };
    add_with_row_answers(o, {std::move(text), without_own, {blocked_where({}, is_outside)}}, variants);
  };
  for (const Index reach : {width - 1, width, width - 2}) {
    if (reach < 0) continue;
    add(fmt::format(
            "the window has a left bound only: query i keeps every key from i − {} on, those ahead too", reach),
        reach, everything);
    if (reach > 0 || !o.is_causal)  // else there is no window
      add(fmt::format(
              "the window has a right bound only: query i keeps every key up to i + {}, all those behind too",
              reach),
          everything, reach);
  }
  if (width < 2) return;
  add(fmt::format("the window lies ahead of a query: query i keeps the keys from i to i + {}", width - 1), 0,
      width - 1);
  const Index half = width / 2;
  for (const Index ahead : {half, width - 1 - half})
    add(fmt::format("the width of the window counts both sides: query i keeps the keys from i − {} to i + {}",
                    half, ahead),
        half, ahead);
}

using Slopes = std::vector<double>;

// 2^(−8·(from + by·i)/heads) for i = 0 … count − 1.
Slopes powers(Index count, Index heads, Index from, Index by = 1) {
  Slopes slopes;
  for (Index i = 0; i < count; ++i)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(from + by * i) / static_cast<double>(heads)));
  return slopes;
}

Slopes followed_by(Slopes first, const Slopes& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

// ALiBi with other slopes than those that its authors published.
void add_slopes(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions o = resolved_options(inputs);
  if (!o.alibi || o.num_heads == 0) return;
  const Index heads = o.num_heads;
  std::vector<Slopes> seen{alibi_slopes(heads, o.alibi_scale)};
  const Slopes own = seen.front();
  const auto add = [&](std::string text, Slopes slopes) {
    if (std::ranges::find(seen, slopes) != seen.end()) return;
    variants.push_back({std::move(text), {alibi_with(slopes)}});
    seen.push_back(std::move(slopes));
  };
  const auto scaled = [&](std::string text, Slopes slopes) {
    for (double& slope : slopes) slope *= o.alibi_scale;
    add(std::move(text), std::move(slopes));
  };
  // Of the next lower power of two, and what is left of the heads.
  const auto lower = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const Index rest = heads - lower, upper = 2 * lower;
  if (rest > 0) {
    const Slopes first = powers(lower, lower, 1);
    scaled(
        "ALiBi's slopes are 2^(−8(h+1)/H) although H is no power of two: those of the next lower power of "
        "two are not followed by every second one of the next higher",
        powers(heads, heads, 1));
    scaled(fmt::format(
               "ALiBi's slopes are the first {} of those for {} heads, not those for {} and every second "
               "one for {}",
               heads, upper, lower, upper),
           powers(heads, upper, 1));
    scaled(
        fmt::format("ALiBi's last {} slopes are every second one for {} heads beginning with the second, not "
                    "with the first",
                    rest, upper),
        followed_by(first, powers(rest, upper, 2, 2)));
    scaled(fmt::format("ALiBi's last {} slopes are the first ones for {} heads, not every second one", rest,
                       upper),
           followed_by(first, powers(rest, upper, 1)));
    scaled(fmt::format("ALiBi's last {} slopes repeat the first ones", rest),
           followed_by(first, powers(rest, lower, 1)));
    scaled(fmt::format(
               "ALiBi's slopes are every second one for {} heads from the second on, then those from the "
               "first on (the order of MPT)",
               upper),
           followed_by(powers(lower, upper, 2, 2), powers(rest, upper, 1, 2)));
  }
  for (const Index from : {0, 2}) {
    const std::string text =
        fmt::format("the exponents of ALiBi's slopes are off by one: 2^(−8{}/H), not 2^(−8(h+1)/H)",
                    from == 0 ? "h" : "(h+2)");
    scaled(text, powers(heads, heads, from));
    scaled(text, followed_by(powers(lower, lower, from), powers(rest, upper, from, 2)));
    scaled(text, followed_by(powers(lower, lower, from), powers(rest, upper, 2 * from, 2)));
  }
  add("ALiBi's slopes stand in the reverse order of the heads", {own.rbegin(), own.rend()});
  Slopes sorted = own;
  std::ranges::sort(sorted);
  add("ALiBi's slopes are sorted, the flattest first", sorted);
  add("ALiBi's slopes are sorted, the steepest first", {sorted.rbegin(), sorted.rend()});
  scaled("ALiBi's slopes are 2^(−(h+1)), those for 8 heads, for any number of heads", powers(heads, 8, 1));
  scaled("ALiBi's slopes are 1/(h+1)", [&] {
    Slopes slopes;
    for (Index h = 0; h < heads; ++h) slopes.push_back(1.0 / static_cast<double>(h + 1));
    return slopes;
  }());
  if (o.alibi_scale != 1.0) add("ALiBi's slopes are not scaled", alibi_slopes(heads));
}

}  // namespace

void add_position_mask_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  add_windows(inputs, variants);
  add_slopes(inputs, variants);
}

}  // namespace headwise
