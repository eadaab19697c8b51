#include "core/trace/input_variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/attention/rotary_embedding.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/rotary_variants.h"
#include "core/trace/tensor_readings.h"

namespace headwise {
namespace {

using Variants = std::vector<InputVariant>;

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

// The tensor with its outermost axis in blocks of `rows`, block b taken from `source[b]`; the axis changes its
// size with the number of blocks.
TensorPtr with_blocks(const Tensor& tensor, Index rows, const std::vector<Index>& source) {
  std::vector<Axis> axes = tensor.shape().axes();
  const Index width = axes[0].size == 0 ? 0 : tensor.size() / axes[0].size;
  axes[0].size = rows * static_cast<Index>(source.size());
  Tensor result(Shape(std::move(axes)), tensor.dtype());
  const Index block = rows * width;
  for (std::size_t b = 0; b < source.size(); ++b) {
    for (Index i = 0; i < block; ++i)
      result.set_flat(static_cast<Index>(b) * block + i, tensor.flat(source[b] * block + i));
  }
  return shared(std::move(result));
}

TensorPtr inverted(const Tensor& mask) {
  Tensor result = mask;
  for (Index i = 0; i < result.size(); ++i) result.set_flat(i, result.flat(i) == 0.0 ? 1.0 : 0.0);
  return shared(std::move(result));
}

// A square matrix, or several stacked: each transposed.
TensorPtr transposed_squares(const Tensor& matrix) {
  const Index width = matrix.shape().size(1);
  Tensor result = matrix;
  for (Index row = 0; row < matrix.shape().size(0); ++row) {
    for (Index column = 0; column < width; ++column) {
      const Index first = row / width * width;
      result.set_flat((first + column) * width + row - first, matrix.flat(row * width + column));
    }
  }
  return shared(std::move(result));
}

bool is_stack_of_squares(const TensorPtr& matrix) {
  return matrix && matrix->shape().size(1) > 1 && matrix->shape().size(0) % matrix->shape().size(1) == 0;
}

double scale_of(const AttentionOptions& o) {
  return o.scale.value_or(1.0 / std::sqrt(static_cast<double>(o.head_dim)));
}

// Scales that implementations apply, a variant for each number: two names for one number are told together.
void add_scales(const AttentionOptions& o, Variants& variants) {
  const auto width = static_cast<double>(o.head_dim);
  const double own = scale_of(o);
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
    variants.push_back({fmt::format("the scores are scaled by {:.6g} ({})", scale, fmt::join(names, "; ")),
                        fmt::format("--set attention.scale={}", scale),
                        [scale = scale](AttentionInputs& inputs) { inputs.options.scale = scale; }});
  }
}

void add_options(const AttentionOptions& o, Variants& variants) {
  const auto add = [&](bool applies, std::string text, std::string remedy, auto change) {
    if (!applies) return;
    variants.push_back(
        {std::move(text), std::move(remedy), [change](AttentionInputs& inputs) { change(inputs.options); }});
  };
  using Options = AttentionOptions;
  add(o.softcap > 0, "there is no softcap", "--set attention.softcap=0", [](Options& p) { p.softcap = 0; });
  add(o.temperature != 1.0, "there is no temperature", "--set attention.temperature=1",
      [](Options& p) { p.temperature = 1; });
  add(o.dropout > 0, "there is no dropout", "--set attention.dropout=0", [](Options& p) { p.dropout = 0; });
  add(o.add_zero_attn, "no row of zeros is appended", "--set attention.add_zero_attn=false",
      [](Options& p) { p.add_zero_attn = false; });
  const bool rotary = has_rotary_embedding(o);  // appended rows have no position
  add(!o.add_zero_attn && !rotary && o.op == Op::multi_head_attention,
      "a row of zeros is appended to k and v", "--set attention.add_zero_attn=true",
      [](Options& p) { p.add_zero_attn = true; });
  add(!o.is_causal, "there is a causal mask", "--set mask.is_causal=true",
      [](Options& p) { p.is_causal = true; });
  add(o.is_causal, "there is no causal mask", "--set mask.is_causal=false",
      [](Options& p) { p.is_causal = false; });
  const bool top_left = o.causal_alignment == CausalAlignment::top_left;
  const auto turn = [](Options& p) {
    p.causal_alignment = p.causal_alignment == CausalAlignment::top_left ? CausalAlignment::bottom_right
                                                                         : CausalAlignment::top_left;
  };
  const std::string other = top_left ? "bottom_right" : "top_left";
  add(o.is_causal || o.sliding_window || o.alibi || rotary,
      fmt::format("positions are aligned at the {}", other), "--set mask.causal_alignment=" + other, turn);
  add(!o.is_causal && top_left, "there is a causal mask, aligned at the bottom right",
      "--set mask.is_causal=true --set mask.causal_alignment=bottom_right", [turn](Options& p) {
        p.is_causal = true;
        turn(p);
      });
  add(o.sliding_window.has_value(), "there is no sliding window", "--set mask.sliding_window=null",
      [](Options& p) { p.sliding_window.reset(); });
  for (const Index by : {-1, 1}) {
    const Index window = o.sliding_window.value_or(0) + by;
    add(o.sliding_window && window > 0, fmt::format("the window is {} wide", window),
        fmt::format("--set mask.sliding_window={}", window),
        [window](Options& p) { p.sliding_window = window; });
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
  const auto absent = [&](const char* name, TensorPtr TraceTensors::*member) {
    if (!(t.*member)) return;
    variants.push_back({fmt::format("{} is not applied", name), "",
                        [member](AttentionInputs& other) { other.tensors.*member = nullptr; }});
    if ((t.*member)->dtype() != DType::boolean) return;
    variants.push_back(
        {fmt::format("True and False of {} have the opposite meaning", name), "",
         [member](AttentionInputs& other) { other.tensors.*member = inverted(*(other.tensors.*member)); }});
    // A mask turned round mostly blocks whole rows, and then the other program's answer to those shows as well.
    const bool zero = inputs.options.fully_masked_rows == FullyMaskedRows::zero;
    variants.push_back({fmt::format("True and False of {} have the opposite meaning, and rows whose keys are "
                                    "then all blocked become {}",
                                    name, zero ? "NaN" : "0"),
                        "", [member, zero](AttentionInputs& other) {
                          other.tensors.*member = inverted(*(other.tensors.*member));
                          other.options.fully_masked_rows =
                              zero ? FullyMaskedRows::nan : FullyMaskedRows::zero;
                        }});
  };
  absent("attn_mask", &TraceTensors::attn_mask);
  absent("key_padding_mask", &TraceTensors::key_padding_mask);
  absent("valid_lens", &TraceTensors::valid_lens);
  const AttentionOptions& o = inputs.options;
  const int masks = (t.attn_mask != nullptr) + (t.key_padding_mask != nullptr) + (t.valid_lens != nullptr) +
                    o.is_causal + o.sliding_window.has_value();
  if (masks > 1) {
    variants.push_back({"no mask is applied at all", "", [](AttentionInputs& other) {
                          TraceTensors& u = other.tensors;
                          u.attn_mask = u.key_padding_mask = u.valid_lens = nullptr;
                          other.options.is_causal = false;
                          other.options.sliding_window.reset();
                        }});
  }
  if (!t.attn_mask) return;
  const Shape shape = t.attn_mask->shape();
  if (shape.rank() == 2 && shape.size(0) == shape.size(1) && shape.size(0) > 1) {
    variants.push_back({"attn_mask is transposed", "", [](AttentionInputs& other) {
                          other.tensors.attn_mask = transposed_squares(*other.tensors.attn_mask);
                        }});
  }
  const AttentionSizes sizes = attention_sizes(inputs);
  if (inputs.options.op == Op::multi_head_attention && shape.rank() == 3 && sizes.batch > 1 &&
      sizes.heads > 1) {
    std::vector<Index> source;  // slice n·H + h of ours from slice h·N + n
    for (Index n = 0; n < sizes.batch; ++n) {
      for (Index h = 0; h < sizes.heads; ++h) source.push_back(h * sizes.batch + n);
    }
    variants.push_back(
        {"attn_mask's first axis counts h·N + n, not n·H + h", "", [source](AttentionInputs& other) {
           other.tensors.attn_mask = with_blocks(*other.tensors.attn_mask, 1, source);
         }});
  }
}

// Each key/value head h % G for query head h, where ours is h / (H/G): written as one key/value head a query
// head.
void add_tiled_heads(const AttentionInputs& inputs, Variants& variants) {
  const AttentionSizes sizes = attention_sizes(inputs);
  const Index heads = sizes.heads, kv_heads = sizes.kv_heads;
  if (heads == kv_heads || kv_heads == 1) return;
  const auto change = [=](AttentionInputs& other) {
    TraceTensors& t = other.tensors;
    std::vector<Index> tiled;
    for (Index h = 0; h < heads; ++h) tiled.push_back(h % kv_heads);
    // Axis 1 of (N,G,S,D).
    const auto tile_heads = [&](TensorPtr& tensor) {
      if (!tensor) return;
      std::vector<Index> source;
      for (Index n = 0; n < tensor->shape().size(0); ++n) {
        for (const Index g : tiled) source.push_back(n * kv_heads + g);
      }
      std::vector<Axis> axes = tensor->shape().axes();
      const Index batch = axes[0].size;
      const Shape folded{{"N·G", batch * axes[1].size}, axes[2], axes[3]};
      const TensorPtr result = with_blocks(tensor->reshaped(folded), 1, source);
      axes[1].size = heads;
      tensor = shared(result->reshaped(Shape(std::move(axes))));
    };
    if (other.options.op == Op::scaled_dot_product_attention) {
      tile_heads(t.key);
      tile_heads(t.value);
      return;
    }
    tile_heads(t.static_k);
    tile_heads(t.static_v);
    const Index width = other.options.head_dim, v_width = other.options.v_head_dim;
    const auto tile_rows = [&](TensorPtr& rows, Index block) {
      if (rows) rows = with_blocks(*rows, block, tiled);
    };
    tile_rows(t.k_proj_weight, width);
    tile_rows(t.v_proj_weight, v_width);
    tile_rows(t.bias_k, width);
    tile_rows(t.bias_v, v_width);
    const auto tile_packed = [&](TensorPtr& packed) {  // rows of q, then of k's heads, then of v's
      if (!packed) return;
      std::vector<Index> rows;
      for (Index r = 0; r < heads * width; ++r) rows.push_back(r);
      Index first = heads * width;
      for (const Index block : {width, v_width}) {
        for (const Index g : tiled) {
          for (Index r = 0; r < block; ++r) rows.push_back(first + g * block + r);
        }
        first += kv_heads * block;
      }
      packed = with_blocks(*packed, 1, rows);
    };
    tile_packed(t.in_proj_weight);
    tile_packed(t.in_proj_bias);
    other.options.num_kv_heads = heads;
  };
  variants.push_back(
      {"key/value heads are tiled (query head h reads head h % G), not repeated in place (h // (H/G))", "",
       change});
}

void add_parameters(const AttentionInputs& inputs, Variants& variants) {
  const TraceTensors& t = inputs.tensors;
  const auto add = [&](bool applies, std::string text, std::function<void(AttentionInputs&)> change) {
    if (applies) variants.push_back({std::move(text), "", std::move(change)});
  };
  const auto without = [&](const TensorPtr& tensor, const char* text,
                           std::function<void(TraceTensors&)> drop) {
    add(tensor != nullptr, text, [drop](AttentionInputs& other) { drop(other.tensors); });
  };
  without(t.in_proj_bias, "in_proj_bias is not added", [](TraceTensors& u) { u.in_proj_bias = nullptr; });
  without(t.out_proj_bias, "out_proj.bias is not added", [](TraceTensors& u) { u.out_proj_bias = nullptr; });
  without(t.in_proj_bias, "no bias is added, neither in_proj_bias nor out_proj.bias",
          [](TraceTensors& u) { u.in_proj_bias = u.out_proj_bias = nullptr; });
  without(t.bias_k, "bias_k and bias_v are not appended",
          [](TraceTensors& u) { u.bias_k = u.bias_v = nullptr; });
  const auto transposed = [&](const char* name, TensorPtr TraceTensors::*member) {
    add(is_stack_of_squares(t.*member), fmt::format("{} is used as [in,out], x·W where ours is x·Wᵀ", name),
        [member](AttentionInputs& other) {
          other.tensors.*member = transposed_squares(*(other.tensors.*member));
        });
  };
  transposed("in_proj_weight", &TraceTensors::in_proj_weight);
  transposed("q_proj_weight", &TraceTensors::q_proj_weight);
  transposed("k_proj_weight", &TraceTensors::k_proj_weight);
  transposed("v_proj_weight", &TraceTensors::v_proj_weight);
  transposed("out_proj.weight", &TraceTensors::out_proj_weight);
  add(is_stack_of_squares(t.in_proj_weight) && is_stack_of_squares(t.out_proj_weight),
      "all projections are used as [in,out], x·W where ours is x·Wᵀ", [](AttentionInputs& other) {
        other.tensors.in_proj_weight = transposed_squares(*other.tensors.in_proj_weight);
        other.tensors.out_proj_weight = transposed_squares(*other.tensors.out_proj_weight);
      });
  add(t.key != t.value && t.key && t.value && t.key->shape().same_sizes(t.value->shape()),
      "key and value are exchanged", [](AttentionInputs& other) {
        const Tensor key = *other.tensors.key;
        other.tensors.key = shared(other.tensors.value->reshaped(key.shape()));
        other.tensors.value = shared(key.reshaped(other.tensors.value->shape()));
      });

  const AttentionOptions& o = inputs.options;
  const Index rows = o.num_heads * o.head_dim;
  if (!t.in_proj_weight || o.num_heads != o.num_kv_heads || o.head_dim != o.v_head_dim) return;
  const auto reorder = [](Index block, std::vector<Index> source) {
    return [block, source = std::move(source)](AttentionInputs& other) {
      for (TensorPtr* packed : {&other.tensors.in_proj_weight, &other.tensors.in_proj_bias})
        if (*packed) *packed = with_blocks(**packed, block, source);
    };
  };
  // Where q, k and v are to be found in theirs.
  constexpr std::array<std::pair<const char*, std::array<Index, 3>>, 5> orders{{{"q, v, k", {0, 2, 1}},
                                                                                {"k, q, v", {1, 0, 2}},
                                                                                {"v, q, k", {1, 2, 0}},
                                                                                {"k, v, q", {2, 0, 1}},
                                                                                {"v, k, q", {2, 1, 0}}}};
  for (const auto& [text, source] : orders) {
    add(true, fmt::format("the rows of in_proj_weight are taken in the order {}, not q, k, v", text),
        reorder(rows, {source.begin(), source.end()}));
  }
  std::vector<Index> by_head;  // block (part, h) of ours from block (h, part)
  for (Index part = 0; part < 3; ++part) {
    for (Index h = 0; h < o.num_heads; ++h) by_head.push_back(h * 3 + part);
  }
  add(o.num_heads > 1, "the rows of in_proj_weight are taken as [H,3,D], head by head, not as [3,H,D]",
      reorder(o.head_dim, by_head));
}

}  // namespace

std::vector<InputVariant> input_variants(const AttentionInputs& inputs) {
  Variants variants;
  AttentionOptions resolved = resolved_options(inputs);
  if (resolved.head_dim > 0 && resolved.v_head_dim > 0 && resolved.embed_dim > 0)
    add_scales(resolved, variants);
  add_options(resolved, variants);
  for (InputVariant& variant : rotary_variants(inputs)) variants.push_back(std::move(variant));
  add_masks(inputs, variants);
  if (inputs.options.op == Op::multi_head_attention) add_parameters(inputs, variants);
  add_tiled_heads(inputs, variants);
  return variants;
}

}  // namespace headwise
