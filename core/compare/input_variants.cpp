#include "core/compare/program_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_scale.h"
#include "core/compare/mask_patterns.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Variants = ProgramVariants;

// Scales that implementations apply, one variant per number: two names for one number are reported together.
void add_scales(const AttentionOptions& o, Variants& variants) {
  const auto width = static_cast<double>(o.head_dim);
  const double own = attention_scale(o);
  const std::vector<std::pair<std::string, double>> scales{
      {"not scaled", 1.0},
      {"1/D", 1.0 / width},
      {"√D", std::sqrt(width)},
      {"1/√D", 1.0 / std::sqrt(width)},
      {"1/√E", 1.0 / std::sqrt(static_cast<double>(o.embed_dim))},
      {"1/√Dv", 1.0 / std::sqrt(static_cast<double>(o.v_head_dim))},
      {"the scale twice", own * own}};
  const auto same = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); };
  std::vector<double> added{own};
  for (const auto& [unused, scale] : scales) {
    const auto is_scale = [&same, scale = scale](double other) { return same(other, scale); };
    if (std::ranges::any_of(added, is_scale)) continue;
    added.push_back(scale);
    std::vector<std::string> names;
    for (const auto& [name, other] : scales) {
      if (is_scale(other)) names.push_back(name);
    }
    variants.push_back({fmt::format("the scores are scaled by {:.6g} ({})", scale, join(names, "; ")),
                        fmt::format("--set attention.scale={}", scale),
                        [scale = scale](AttentionInputs& inputs) { inputs.options.scale = scale; }});
  }
}

// `square`: there are as many queries as keys, and both alignments are the same.
void add_options(const AttentionOptions& o, bool square, Variants& variants) {
  const auto add = [&](bool applies, std::string text, std::string remedy, auto change) {
    if (!applies) return;
    variants.push_back(
        {std::move(text), std::move(remedy), [change](AttentionInputs& inputs) { change(inputs.options); }});
  };
  using Options = AttentionOptions;
  visit_layer_options([&](const OptionRow& row, auto member, const auto&...) {
    if constexpr (std::is_same_v<decltype(member), double LayerOptions::*>) {
      const double none = LayerOptions{}.*member;
      add(is_set(o, member), fmt::format("there is no {}", row.key),
          fmt::format("--set attention.{}={:g}", row.key, none), [=](Options& p) { p.*member = none; });
    }
  });
  add(o.add_zero_attn, "no row of zeros is appended", "--set attention.add_zero_attn=false",
      [](Options& p) { p.add_zero_attn = false; });
  const bool rotary = has_rotary_embedding(o);  // appended rows have no position
  add(!o.add_zero_attn && !rotary && o.op == Op::multi_head_attention, "a row of zeros is appended to k and v",
      "--set attention.add_zero_attn=true", [](Options& p) { p.add_zero_attn = true; });
  // With a window, a causal mask is also the difference between one that reaches to both sides and one that
  // reaches back.
  const bool window = o.sliding_window.has_value();
  const char* one_sided = window ? ": the window keeps the keys behind a query, not those ahead" : "";
  const char* two_sided = window ? ": the window keeps the keys on both sides of a query" : "";
  add(!o.is_causal, fmt::format("there is a causal mask{}", one_sided), "--set mask.is_causal=true",
      [](Options& p) { p.is_causal = true; });
  const auto without = [&](bool applies, std::string text, std::string remedy, auto drop) {
    if (!applies) return;
    add_with_row_answers(
        o, {std::move(text), std::move(remedy), [drop](AttentionInputs& inputs) { drop(inputs.options); }},
        variants);
  };
  without(o.is_causal, fmt::format("there is no causal mask{}", two_sided), "--set mask.is_causal=false",
          [](Options& p) { p.is_causal = false; });
  const bool top_left = o.causal_alignment == CausalAlignment::top_left;
  const auto turn = [](Options& p) {
    p.causal_alignment = p.causal_alignment == CausalAlignment::top_left ? CausalAlignment::bottom_right
                                                                         : CausalAlignment::top_left;
  };
  const std::string other = top_left ? "bottom_right" : "top_left";
  add(o.is_causal || o.sliding_window || o.alibi || rotary,
      fmt::format("positions are aligned at the {}", other), "--set mask.causal_alignment=" + other, turn);
  add(!o.is_causal && top_left && !square, "there is a causal mask, aligned at the bottom right",
      "--set mask.is_causal=true --set mask.causal_alignment=bottom_right", [turn](Options& p) {
        p.is_causal = true;
        turn(p);
      });
  without(window, "there is no sliding window", "--set mask.sliding_window=null",
          [](Options& p) { p.sliding_window.reset(); });
  for (const Index by : {-1, 1}) {
    const Index width = o.sliding_window.value_or(0) + by;
    add(window && width > 0, fmt::format("the window is {} wide", width),
        fmt::format("--set mask.sliding_window={}", width), [width](Options& p) { p.sliding_window = width; });
  }
  add(o.alibi, "there is no ALiBi", "--set mask.alibi=false", [](Options& p) { p.alibi = false; });
  add(o.fully_masked_rows == FullyMaskedRows::nan, "a row whose keys are all blocked becomes 0",
      "--set mask.fully_masked_rows=zero", [](Options& p) { p.fully_masked_rows = FullyMaskedRows::zero; });
  add(o.fully_masked_rows == FullyMaskedRows::zero, "a row whose keys are all blocked becomes NaN",
      "--set mask.fully_masked_rows=nan", [](Options& p) { p.fully_masked_rows = FullyMaskedRows::nan; });
  add(o.mask_value.has_value(), "blocked cells are -inf", "--set mask.value=-inf",
      [](Options& p) { p.mask_value.reset(); });
  for (const double value :
       {-1e9, -1e6, -1e5, -1e4, -65504.0, -static_cast<double>(std::numeric_limits<float>::max())}) {
    add(!o.mask_value, fmt::format("blocked cells are filled with {:g}", value),
        fmt::format("--set mask.value={:.9g}", value), [value](Options& p) { p.mask_value = value; });
  }
  add(!o.head_gain.empty(), "the heads have no gains", "--set heads.gain=null",
      [](Options& p) { p.head_gain.clear(); });
  if (o.frozen_heads.empty()) return;
  variants.push_back({"no head is frozen", "--set heads.frozen=null", [](AttentionInputs& inputs) {
                        inputs.options.frozen_heads.clear();
                        inputs.tensors.frozen_weights = nullptr;
                      }});
}

void add_masks(const AttentionInputs& inputs, Variants& variants) {
  const TraceTensors& t = inputs.tensors;
  const AttentionOptions resolved = resolved_options(inputs);
  const auto absent = [&](const char* name, TensorPtr TraceTensors::*member) {
    if (!(t.*member)) return;
    add_with_row_answers(resolved,
                         {fmt::format("{} is not applied", name),
                          [member](AttentionInputs& other) { other.tensors.*member = nullptr; }},
                         variants);
  };
  absent("attn_mask", &TraceTensors::attn_mask);
  absent("key_padding_mask", &TraceTensors::key_padding_mask);
  absent("valid_lens", &TraceTensors::valid_lens);
  const auto boolean = [&](const char* name, TensorPtr TraceTensors::*member) {
    if (!(t.*member) || !only_zeros_and_ones(*(t.*member))) return;
    for (const bool blocks : {true, false})
      variants.push_back({fmt::format("{} is boolean, not added: 1 {}", name, blocks ? "blocks" : "keeps"),
                          [member, blocks](AttentionInputs& other) {
                            const Tensor& numbers = *(other.tensors.*member);
                            const bool true_blocks = other.options.op == Op::multi_head_attention ||
                                                     member == &TraceTensors::key_padding_mask;
                            Tensor read(numbers.shape(), DType::boolean);
                            for (Index i = 0; i < read.size(); ++i)
                              read.set_flat(i, (numbers.flat(i) != 0.0) == (blocks == true_blocks) ? 1.0 : 0.0);
                            other.tensors.*member = shared_tensor(std::move(read));
                          }});
  };
  boolean("attn_mask", &TraceTensors::attn_mask);
  boolean("key_padding_mask", &TraceTensors::key_padding_mask);
  const AttentionOptions& o = inputs.options;
  const int masks = (t.attn_mask != nullptr) + (t.key_padding_mask != nullptr) + (t.valid_lens != nullptr) +
                    o.is_causal + o.sliding_window.has_value();
  if (masks > 1) {
    variants.push_back({"no mask is applied at all", [](AttentionInputs& other) {
                          TraceTensors& u = other.tensors;
                          u.attn_mask = u.key_padding_mask = u.valid_lens = nullptr;
                          other.options.is_causal = false;
                          other.options.sliding_window.reset();
                        }});
  }
  if (!t.attn_mask) return;
  const Shape shape = t.attn_mask->shape();
  const AttentionSizes sizes = attention_sizes(inputs);
  if (inputs.options.op == Op::multi_head_attention && shape.rank() == 3 && sizes.batch > 1 && sizes.heads > 1) {
    std::vector<Index> source;  // slice n·H + h of ours from slice h·N + n
    for (Index n = 0; n < sizes.batch; ++n) {
      for (Index h = 0; h < sizes.heads; ++h) source.push_back(h * sizes.batch + n);
    }
    variants.push_back({"attn_mask's first axis counts h·N + n, not n·H + h", [source](AttentionInputs& other) {
                          other.tensors.attn_mask = with_blocks(*other.tensors.attn_mask, 1, source);
                        }});
  }
}

}  // namespace

void add_input_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions resolved = resolved_options(inputs);
  if (resolved.head_dim > 0 && resolved.v_head_dim > 0 && resolved.embed_dim > 0)
    add_scales(resolved, variants);
  const AttentionSizes sizes = attention_sizes(inputs);
  add_options(resolved, sizes.queries == sizes.keys, variants);
  add_masks(inputs, variants);
}

}  // namespace headwise
