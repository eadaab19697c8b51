#include "core/compare/program_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/relative_bias.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"
#include "core/compare/mask_patterns.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Variants = ProgramVariants;

// Scales that implementations apply, one variant per number: two names for one number are reported together.
void add_scales(const AttentionOptions& o, Variants& variants) {
  const auto width = static_cast<double>(o.head_dim);
  const double own = attention_scale(o);
  const auto over_root = [](Index size) { return 1.0 / std::sqrt(static_cast<double>(size)); };
  const std::string D = is_latent(o) ? "(Dn+R)" : "D";
  std::vector<std::pair<std::string, double>> scales{{"not scaled", 1.0},
                                                     {"1/" + D, 1.0 / width},
                                                     {"√" + D, std::sqrt(width)},
                                                     {"1/√" + D, over_root(o.head_dim)},
                                                     {"1/√E", over_root(o.embed_dim)},
                                                     {"1/√Dv", over_root(o.v_head_dim)},
                                                     {"the scale twice", own * own}};
  if (is_latent(o)) {  // the widths that its vectors have in one layout or the other
    const Index rope = o.qk_rope_head_dim.value_or(1), latent = o.kv_lora_rank.value_or(1);
    scales.insert(scales.end(),
                  {{"1/√(C+R), the width of an absorbed key", over_root(latent + rope)},
                   {"1/√Dn, without the columns of k_rot", over_root(o.qk_nope_head_dim.value_or(1))},
                   {"1/√C", over_root(latent)},
                   {"1/√R", over_root(rope)}});
  }
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

// `square`: there are as many queries as keys, and both alignments are the same. `stretched`: RoPE is.
void add_options(const AttentionOptions& o, bool square, bool stretched, Variants& variants) {
  const auto add = [&](bool applies, std::string text, std::string remedy, auto change) {
    if (!applies) return;
    variants.push_back(
        {std::move(text), std::move(remedy), [change](AttentionInputs& inputs) { change(inputs.options); }});
  };
  using Options = AttentionOptions;
  visit_layer_options([&](const OptionRow& row, auto member, const auto&...) {
    if constexpr (std::is_same_v<decltype(member), double LayerOptions::*>) {
      if (std::string_view(row.key).starts_with("qk_norm") || (row.traits & latent_only) != 0) return;
      if (stretched && row.key == std::string_view("rotary_factor")) return;  // the scaling's own
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
  add(depends_on_distance(o) || rotary, fmt::format("positions are aligned at the {}", other),
      "--set mask.causal_alignment=" + other, turn);
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
  const auto side = [&](const char* key, const char* where, std::optional<Index> Options::*reach) {
    if (!(o.*reach)) return;
    add(true, fmt::format("the window has no bound {}", where), fmt::format("--set mask.{}=null", key),
        [reach](Options& p) { (p.*reach).reset(); });
    for (const Index width : {*(o.*reach) - 1, *(o.*reach) + 1})
      add(width >= 0, fmt::format("the window reaches {} keys {}", width, where),
          fmt::format("--set mask.{}={}", key, width), [=](Options& p) { p.*reach = width; });
  };
  side("window_left", "behind a query", &Options::window_left);
  side("window_right", "ahead of a query", &Options::window_right);
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
  if (o.output_gate)
    variants.push_back(
        {"there is no output gate", "--set attention.output_gate=false", [](AttentionInputs& inputs) {
           inputs.options.output_gate = false;
           inputs.tensors.output_gate_weight = inputs.tensors.output_gate_bias = nullptr;
         }});
  add(!o.head_gain.empty(), "the heads have no gains", "--set heads.gain=null",
      [](Options& p) { p.head_gain.clear(); });
  if (o.frozen_heads.empty()) return;
  variants.push_back({"no head is frozen", "--set heads.frozen=null", [](AttentionInputs& inputs) {
                        inputs.options.frozen_heads.clear();
                        inputs.tensors.frozen_weights = nullptr;
                      }});
}

// The norms of q and k missing, in another place, of another kind, or with another ε or offset.
void add_norms(const AttentionInputs& inputs, Variants& variants) {
  const AttentionOptions& o = inputs.options;
  if (!o.qk_norm) return;
  const auto add = [&](std::string text, const std::string& setting, auto change) {
    variants.push_back({std::move(text), "--set attention." + setting,
                        [change](AttentionInputs& theirs) { change(theirs); }});
  };
  const TensorPtr &q_weight = inputs.tensors.q_norm_weight, &k_weight = inputs.tensors.k_norm_weight;
  const auto without_weights = [](AttentionInputs& theirs) {
    theirs.tensors.q_norm_weight = theirs.tensors.k_norm_weight = nullptr;
  };
  add("q and k are not normalised (no QK-norm)", "qk_norm=null", [without_weights](AttentionInputs& theirs) {
    theirs.options.qk_norm.reset();
    without_weights(theirs);
  });
  constexpr std::array places{"per_head", "whole", "per_head_after_rotary"};
  constexpr std::array place_words{"each head's row before it is rotated",
                                   "the whole row of all heads, before the split",
                                   "each head's row after it is rotated"};
  const bool fits_any = !q_weight && !k_weight;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<QkNorm>(i);
    const bool same_weights = (place == QkNorm::whole) == (o.qk_norm == QkNorm::whole);
    const bool turns = has_rotary_embedding(o) || place == QkNorm::whole || o.qk_norm == QkNorm::whole;
    if (place == *o.qk_norm || !turns || (!same_weights && !fits_any)) continue;
    add(fmt::format("QK-norm normalises {}", place_words[i]), fmt::format("qk_norm={}", places[i]),
        [place](AttentionInputs& theirs) { theirs.options.qk_norm = place; });
  }
  constexpr std::array kinds{"rms", "layer", "l2"};
  constexpr std::array kind_words{"divides by the root of the mean square",
                                  "subtracts the mean first (LayerNorm)", "divides by the length"};
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (const auto kind = static_cast<NormKind>(i); kind != o.qk_norm_kind)
      add(fmt::format("QK-norm {}", kind_words[i]), fmt::format("qk_norm_kind={}", kinds[i]),
          [kind](AttentionInputs& theirs) { theirs.options.qk_norm_kind = kind; });
  // Any other is searched for, where a trace is small enough (fitted_variants.cpp).
  for (const double epsilon : {1e-6, 1e-5, 1e-8, 0.0, 1e-4, 1e-3})
    if (epsilon != o.qk_norm_epsilon)
      add(fmt::format("the epsilon of QK-norm is {:g}", epsilon), fmt::format("qk_norm_epsilon={:g}", epsilon),
          [epsilon](AttentionInputs& theirs) { theirs.options.qk_norm_epsilon = epsilon; });
  if (fits_any) return;
  const double offset = o.qk_norm_offset == 0.0 ? 1.0 : 0.0;
  add(offset == 1.0 ? "1 is added to the weights of QK-norm" : "nothing is added to the weights of QK-norm",
      fmt::format("qk_norm_offset={:g}", offset),
      [offset](AttentionInputs& theirs) { theirs.options.qk_norm_offset = offset; });
  variants.push_back(
      {"QK-norm has no weights: all are 1", "leave q_norm.weight and k_norm.weight out", without_weights});
  if (!q_weight || !k_weight) return;  // then that is the same
  for (const auto& [letter, member] :
       {std::pair("q", &TraceTensors::q_norm_weight), {"k", &TraceTensors::k_norm_weight}})
    variants.push_back(
        {fmt::format("QK-norm has no weights for {}: all of {}_norm.weight are 1", letter, letter),
         fmt::format("leave {}_norm.weight out", letter),
         [member = member](AttentionInputs& theirs) { theirs.tensors.*member = nullptr; }});
}

// Their sinks, one a head or none, in place of ours.
Change with_sinks(const std::vector<double>& sinks) {
  return [sinks](AttentionInputs& theirs) {
    theirs.options.sink.clear();
    theirs.tensors.sinks =
        sinks.empty() ? nullptr : shared_tensor(Tensor(Shape{{"H", std::ssize(sinks)}}, sinks));
  };
}

// The sinks missing, or scaled as the scores are.
void add_sinks(const AttentionInputs& inputs, Variants& variants) {
  const AttentionOptions o = resolved_options(inputs);
  const std::vector<double> sinks = sinks_of_heads(o, inputs.tensors, o.num_heads);
  if (sinks.empty()) return;
  variants.push_back({"there is no sink: the weights of a row add up to 1",
                      o.sink.empty() ? "leave the array sinks out" : "--set attention.sink=null",
                      with_sinks({})});
  std::vector<double> scaled = sinks;
  for (double& sink : scaled) sink = score_scale(o).scaled(sink);
  if (scaled != sinks) variants.push_back({"the sinks are scaled as the scores are", with_sinks(scaled)});
}

// T5's biases missing, of the other kind of buckets, with the sides exchanged, or scaled as the scores are.
void add_relative_bias(const AttentionInputs& inputs, Variants& variants) {
  const TensorPtr& weight = inputs.tensors.relative_bias_weight;
  if (!inputs.options.relative_bias || !weight) return;
  const RelativeBias own = *inputs.options.relative_bias;
  const AttentionOptions o = resolved_options(inputs);
  add_with_row_answers(o,
                       {"there is no relative bias", "--set attention.relative_bias=null",
                        [](AttentionInputs& theirs) {
                          theirs.options.relative_bias.reset();
                          theirs.tensors.relative_bias_weight = nullptr;
                        }},
                       variants);
  RelativeBias other = own;
  other.bidirectional = !own.bidirectional;
  if (relative_bias_problem(other).empty())
    variants.push_back(
        {own.bidirectional
             ? "the buckets of the relative bias are a decoder's: keys ahead share one"
             : "the buckets of the relative bias are an encoder's: half of them are for keys ahead",
         fmt::format("--set attention.relative_bias.bidirectional={}", other.bidirectional),
         [other](AttentionInputs& theirs) { theirs.options.relative_bias = other; }});
  const auto with = [&](std::string text, auto number) {
    Tensor numbers = *weight;
    const Index heads = weight->shape().size(1);
    for (Index i = 0; i < numbers.size(); ++i) numbers.set_flat(i, number(i / heads, i % heads));
    variants.push_back({std::move(text), [table = shared_tensor(std::move(numbers))](AttentionInputs& theirs) {
                          theirs.tensors.relative_bias_weight = table;
                        }});
  };
  if (own.bidirectional) {
    const Index half = own.buckets / 2;
    with(
        "the relative position is query − key, not key − query: the biases of keys before and after the "
        "query are exchanged",
        [&](Index bucket, Index h) {
          const bool moves = bucket != 0 && bucket != half && bucket < 2 * half;
          return weight->at({moves ? (bucket + half) % (2 * half) : bucket, h});
        });
  }
  if (score_scale(o).scaled(1.0) != 1.0)
    with("the relative bias is scaled as the scores are", [&](Index bucket, Index h) {
      return score_scale(o).scaled(weight->at({bucket, h}));
    });
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
  absent("nonpad_kv_seqlen", &TraceTensors::nonpad_kv_seqlen);
  const auto boolean = [&](const char* name, TensorPtr TraceTensors::*member) {
    if (!(t.*member) || !only_zeros_and_ones(*(t.*member))) return;
    for (const bool blocks : {true, false})
      variants.push_back({fmt::format("{} is boolean, not added: 1 {}", name, blocks ? "blocks" : "keeps"),
                          [member, blocks](AttentionInputs& other) {
                            const Tensor& numbers = *(other.tensors.*member);
                            const bool true_blocks =
                                projects(other.options.op) || member == &TraceTensors::key_padding_mask;
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
                    (t.nonpad_kv_seqlen != nullptr) + o.is_causal + window_of(o).bounds();
  if (masks > 1) {
    variants.push_back({"no mask is applied at all", [](AttentionInputs& other) {
                          TraceTensors& u = other.tensors;
                          u.attn_mask = u.key_padding_mask = u.valid_lens = u.nonpad_kv_seqlen = nullptr;
                          other.options.is_causal = false;
                          drop_window(other.options);
                        }});
  }
  if (!t.attn_mask) return;
  const Shape shape = t.attn_mask->shape();
  const AttentionSizes sizes = attention_sizes(inputs);
  if (projects(inputs.options.op) && shape.rank() == 3 && sizes.batch > 1 && sizes.heads > 1) {
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

void add_input_variants(const AttentionInputs& inputs, const std::optional<StretchedRope>& stretched,
                        ProgramVariants& variants) {
  const AttentionOptions resolved = resolved_options(inputs);
  if (resolved.head_dim > 0 && resolved.v_head_dim > 0 && resolved.embed_dim > 0)
    add_scales(resolved, variants);
  const AttentionSizes sizes = attention_sizes(inputs);
  add_options(resolved, sizes.queries == sizes.new_keys(), stretched.has_value(), variants);
  add_norms(inputs, variants);
  add_sinks(inputs, variants);
  add_relative_bias(inputs, variants);
  add_masks(inputs, variants);
}

}  // namespace headwise
