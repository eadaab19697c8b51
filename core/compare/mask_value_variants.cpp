// Masks that block the right cells, with something other than −inf before the softmax.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/attention/check_attention_inputs.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"
#include "core/compare/mask_patterns.h"
#include "core/compare/narrow_types.h"

namespace headwise {
namespace {

using Id = TensorId;

// A row's weights divided by their sum; if that is 0 they stay.
Tensor renormalised(Tensor weights) {
  return mapped_rows(std::move(weights), [](std::span<double> row) {
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (sum == 0.0) return;
    for (double& cell : row) cell /= sum;
  });
}

Tensor without_blocked(const Tensor& weights, const Tensor& bias, bool again) {
  Tensor result = weights;
  for (Index i = 0; i < result.size(); ++i)
    if (is_blocked(bias.flat(i))) result.set_flat(i, 0.0);
  return again ? renormalised(std::move(result)) : result;
}

// The mask removes weights after the softmax.
void add_after_softmax(ProgramVariants& variants) {
  const auto softmax_of = [](Id scores, bool again) {
    return [scores, again](const Trace& so_far) {
      const Tensor weights = softmax(required(so_far, scores), so_far.options.fully_masked_rows);
      return without_blocked(weights, required(so_far, Id::mask_bias), again);
    };
  };
  const StageChange unmasked{Id::masked_scores,
                             [](const Trace& so_far) { return *so_far.tensors.scaled_scores; }};
  const auto add = [&](bool again, const char* text) {
    variants.push_back({text, {unmasked, {Id::attn_weights, softmax_of(Id::scaled_scores, again)}}});
    const auto late = [again](const Trace& so_far) {
      return without_blocked(*so_far.tensors.attn_weights, required(so_far, Id::mask_bias), again);
    };
    variants.push_back({text, {unmasked, {Id::dropped_weights, late}}});  // attn_weights stay as computed
  };
  add(false,
      "the mask is applied after the softmax: blocked weights are set to 0, and the row's sum is below 1");
  add(true, "the mask is applied after the softmax, and each row is divided by what is left of its sum");
}

// Each mask adds its number by itself, so that a cell blocked by two of them gets it twice; in a narrow type
// that is −∞.
void add_sums_of_masks(const AttentionInputs& inputs, ProgramVariants& variants) {
  constexpr double least_f32 = -static_cast<double>(std::numeric_limits<float>::max());
  constexpr double least_f16 = -65504.0, least_bf16 = -3.3895313892515355e38;
  const auto as_f64 = [](double x) { return x; };
  const auto as_f32 = [](double x) {
    return std::abs(x) > static_cast<double>(std::numeric_limits<float>::max())
               ? std::copysign(std::numeric_limits<double>::infinity(), x)
               : static_cast<double>(static_cast<float>(x));
  };
  const auto as_f16 = [](double x) { return rounded_to(f16, x); };
  using Rounding = std::function<double(double)>;
  const std::vector<std::pair<double, Rounding>> numbers{
      {-1e9, as_f64},      {-1e4, as_f64},      {least_f32, as_f64},  {least_f32, as_f32},
      {least_f16, as_f64}, {least_f16, as_f32}, {least_f16, as_f16},  {-1e9, as_f32},
      {-1e4, as_f32},      {-1e4, as_f16},      {least_bf16, as_f64}, {least_bf16, as_f32}};
  std::vector<bool> kinds;  // the causal mask and the window as one mask, or as two
  for (const bool window_apart : {false, true}) {
    if (window_apart && !(inputs.options.is_causal && window_of(inputs.options).bounds())) continue;
    std::vector<Index> blocked;
    for (const Tensor& mask : single_masks(*begun_trace(inputs), window_apart)) {
      blocked.resize(static_cast<std::size_t>(mask.size()));
      for (Index i = 0; i < mask.size(); ++i)
        blocked[static_cast<std::size_t>(i)] += is_blocked(mask.flat(i));
    }
    if (std::ranges::any_of(blocked, [](Index masks) { return masks > 1; })) kinds.push_back(window_apart);
  }
  for (const bool window_apart : kinds) {
    for (const auto& [number, rounding] : numbers) {
      for (const bool sum_first : {true, false}) {
        const auto sums = [=, number = number, rounding = rounding](const Trace& so_far) {
          const Tensor& scores = *so_far.tensors.scaled_scores;
          Tensor sum = sum_first ? Tensor(scores.shape(), DType::f64) : scores;
          for (const Tensor& mask : single_masks(so_far, window_apart))
            for (Index i = 0; i < sum.size(); ++i)
              sum.set_flat(i, rounding(sum.flat(i) + (is_blocked(mask.flat(i)) ? number : mask.flat(i))));
          if (sum_first)
            for (Index i = 0; i < sum.size(); ++i) sum.set_flat(i, rounding(sum.flat(i) + scores.flat(i)));
          return sum;
        };
        variants.push_back(
            {"each mask adds a large negative number of its own: a cell that two masks block gets it twice",
             {{Id::masked_scores, sums}},
             {},
             fmt::format("the number is {:g}, say", number)});
      }
    }
  }
}

}  // namespace

void add_mask_value_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions& o = inputs.options;
  const TraceTensors& t = inputs.tensors;
  if (!t.attn_mask && !t.key_padding_mask && !t.valid_lens && !t.nonpad_kv_seqlen &&
      !depends_on_distance(o) && !o.indexer)
    return;
  const auto add = [&](std::string text, std::vector<StageChange> stages) {
    variants.push_back({std::move(text), std::move(stages)});
  };
  const double scale = attention_scale(resolved_options(inputs));
  for (const double value :
       {-1e9, -1e4, -1e5, -1e6, -65504.0, -1e30, -static_cast<double>(std::numeric_limits<float>::max()),
        -100.0, -1000.0, -10.0, -1.0, 1.0}) {
    add(fmt::format("{:g} is added to blocked cells", value), {masked_as([value](double score, double bias) {
          return is_blocked(bias) ? score + value : score + bias;
        })});
  }
  for (const double value : {-1e9, -1e4, -1e5, -1e6, -100.0, -1000.0}) {
    add(fmt::format("blocked cells are filled with {:g} before the scores are scaled", value),
        {masked_as([value, scale](double score, double bias) {
          return is_blocked(bias) ? value * scale : score + bias;
        })});
  }
  for (const double value :
       {0.0, 1e-9, -1e-9, 1e9, -1.0, -10.0, -50.0, -100.0, -1000.0, -1e7, -1e8, -1e10, -1e12, -1e20, -1e30}) {
    if (!o.mask_value)
      variants.push_back({fmt::format("blocked cells are filled with {:g}", value),
                          fmt::format("--set mask.value={:.9g}", value),
                          [value](AttentionInputs& other) { other.options.mask_value = value; }});
  }
  add("the scores are multiplied by the mask, so that a blocked score becomes 0",
      {masked_as([](double score, double bias) { return is_blocked(bias) ? 0.0 : score + bias; })});
  add("the scores are multiplied by attn_mask, not added to it",
      {masked_as([](double score, double bias) { return is_blocked(bias) ? bias : score * bias; })});
  add("what a mask adds is divided by √D along with the scores", {masked_as([scale](double score, double bias) {
        return is_blocked(bias) ? bias : score + bias * scale;
      })});
  const double usual = 1.0 / std::sqrt(static_cast<double>(resolved_options(inputs).head_dim));
  if (std::isfinite(usual) && scale > 0.0 && scale != usual)  // T5 has no scale
    add(fmt::format(
            "the scores are scaled by {:g} (1/√D) together with what a mask has added: (scores + bias)/√D",
            usual),
        {masked_as([scale, usual](double score, double bias) {
          return is_blocked(bias) ? bias : (score / scale + bias) * usual;
        })});
  add("what a mask adds (a bias, ALiBi) is subtracted: the sign is opposite",
      {masked_as([](double score, double bias) { return is_blocked(bias) ? bias : score - bias; })});
  const auto masked_where = [&](const char* text, auto is_masked) {
    add(text, {{Id::masked_scores, [is_masked](const Trace& so_far) {
                  const Cells masked(*so_far.tensors.masked_scores);
                  return refilled4(*so_far.tensors.scaled_scores,
                                   [&](const Cells& scores, Index n, Index h, Index l, Index s) {
                                     return (is_masked(scores, h, l) ? masked : scores)(n, h, l, s);
                                   });
                }}});
  };
  masked_where("masks are applied to the last query alone",
               [](const Cells& scores, Index, Index l) { return l == scores.size(2) - 1; });
  masked_where("masks are applied in the first head alone",
               [](const Cells&, Index h, Index) { return h == 0; });
  add_sums_of_masks(inputs, variants);
  add_after_softmax(variants);
}

}  // namespace headwise
