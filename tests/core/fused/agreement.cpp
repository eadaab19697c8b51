#include "tests/core/fused/agreement.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/attention/attention_sizes.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/tensor_names.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/attention/random_inputs.h"

namespace headwise::test {
namespace {

void check_tensor(const TensorPtr& got, const TensorPtr& expected, const std::string& name, double bound) {
  CAPTURE(name);
  REQUIRE(got);
  REQUIRE(expected);
  REQUIRE(got->shape() == expected->shape());
  double difference = 0.0, magnitude = 0.0, worst = -1.0;
  Index worst_cell = 0, unlike = -1;
  for (Index i = 0; i < got->size(); ++i) {
    const double a = got->flat(i), b = expected->flat(i);
    if (!std::isfinite(b) || !std::isfinite(a)) {
      if (!(std::isnan(a) && std::isnan(b)) && a != b) unlike = i;
      continue;
    }
    difference += (a - b) * (a - b);
    magnitude += b * b;
    if (std::abs(a - b) > worst) worst = std::abs(a - b), worst_cell = i;
  }
  CHECK_MESSAGE(unlike < 0, fmt::format("cell {}: {} for {}", unlike, unlike < 0 ? 0 : got->flat(unlike),
                                        unlike < 0 ? 0 : expected->flat(unlike)));
  CHECK_MESSAGE(difference <= bound * magnitude + 1e-24,
                fmt::format("worst cell {}: off by {}", worst_cell, worst));
}

}  // namespace

AttentionInputs as_f32(AttentionInputs inputs) {
  inputs.dtype = DType::f32;
  std::map<const Tensor*, TensorPtr> made;  // one array stays one array
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& tensor = inputs.tensors.*(entry.member);
    if (!tensor || tensor->dtype() != DType::f64 || entry.role == TensorRole::mask) continue;
    TensorPtr& converted = made[tensor.get()];
    if (!converted) converted = std::make_shared<const Tensor>(tensor->converted(DType::f32));
    tensor = converted;
  }
  return inputs;
}

AttentionInputs sized_inputs(Index batch, Index queries, Index keys, Index heads, Index kv_heads,
                             Index head_dim, Index v_head_dim) {
  AttentionOptions options = small_options(heads, kv_heads, head_dim);
  options.v_head_dim = v_head_dim;
  return as_f32(random_inputs(options, {batch, queries, keys}));
}

namespace {

// Another array: the same with one number changed.
TensorPtr with_number(const TensorPtr& tensor, Index at, double number) {
  Tensor other = *tensor;
  other.set_flat(at, number);
  return std::make_shared<const Tensor>(std::move(other));
}

TensorPtr patterned(const Shape& shape, DType dtype, Index every) {
  Tensor tensor(shape, dtype);
  for (Index i = 0; i < tensor.size(); ++i) {
    const bool on = i % every == 2;
    tensor.set_flat(i, dtype == DType::boolean ? (on ? 1.0 : 0.0) : 0.02 * static_cast<double>(i % every));
  }
  return std::make_shared<const Tensor>(std::move(tensor));
}

}  // namespace

std::vector<FollowingInputs> following_inputs(const AttentionInputs& first) {
  // An option more does not compile: decide in core/attention/stage_cache.h which stage reads it,
  // and add it below.
  const OperatorOptions& of_operator = first.options;
  const LayerOptions& of_layer = first.options;
  const PositionOptions& of_positions = first.options;
  [[maybe_unused]] const auto& [op, E, H, G, kdim, vdim, D, Dv, past_length, rotary_frequencies, mask_value,
                                fully_masked_rows, head_gain, frozen_heads] = of_operator;
  [[maybe_unused]] const auto& [zero_row, rotary_base, rotary_pairs, rotary_factor, scale, softcap, clip_qkv,
                                qk_norm, qk_norm_kind, qk_norm_offset, qk_norm_epsilon, kv_lora_rank,
                                q_lora_rank, nope, rope, latent_layout, latent_epsilon, temperature, sink,
                                relative_bias, dropout, dropout_seed, need_weights, average_attn_weights,
                                output_gate, residual, layer_norm] = of_layer;
  [[maybe_unused]] const auto& [is_causal, causal_alignment, sliding_window, window_left, window_right, alibi,
                                alibi_scale, indexer] = of_positions;
  const AttentionSizes s = attention_sizes(first);
  std::vector<FollowingInputs> all;
  const auto add = [&](const char* name, FirstStage from, auto&& change) {
    FollowingInputs next{name, first, from};
    change(next.inputs.options, next.inputs.tensors);
    all.push_back(std::move(next));
  };
  using Options = AttentionOptions;
  using Arrays = TraceTensors;

  const auto behind = FirstStage::behind_output;
  add("the same", behind, [](Options&, Arrays&) {});
  add("residual", behind, [](Options& o, Arrays&) { o.residual = !o.residual; });
  add("layer_norm", behind, [](Options& o, Arrays&) { o.layer_norm = !o.layer_norm; });
  add("need_weights", behind, [](Options& o, Arrays&) { o.need_weights = !o.need_weights; });
  add("average_attn_weights", behind,
      [](Options& o, Arrays&) { o.average_attn_weights = !o.average_attn_weights; });

  const auto output = FirstStage::output;
  add("gains", output, [&](Options& o, Arrays&) {
    o.head_gain.assign(static_cast<std::size_t>(s.heads), 0.7);
    o.head_gain.front() = -2.1;
  });
  add("a mute head", output, [&](Options& o, Arrays&) {
    o.head_gain.assign(static_cast<std::size_t>(s.heads), 1.0);
    o.head_gain.back() = 0.0;
  });
  add("gains as an array", output, [&](Options&, Arrays& t) {
    t.head_gain = patterned(Shape{{"H", s.heads}}, DType::f32, 3);
  });
  add("out_proj.weight", output,
      [](Options&, Arrays& t) { t.out_proj_weight = with_number(t.out_proj_weight, 5, 0.6); });
  add("out_proj.bias", output,
      [](Options&, Arrays& t) { t.out_proj_bias = with_number(t.out_proj_bias, 1, -0.3); });

  if (first.options.op == Op::multi_head_attention) {
    const auto gate = [&](Axis rows) { return patterned(Shape{std::move(rows), {"E", E}}, DType::f32, 11); };
    add("an output gate", output, [&](Options& o, Arrays& t) {
      o.output_gate = true;
      t.output_gate_weight = gate({"H·Dv", s.heads * s.v_head_dim});
      t.output_gate_bias = patterned(Shape{{"H·Dv", s.heads * s.v_head_dim}}, DType::f32, 5);
    });
    add("an output gate of each head, with gains", output, [&](Options& o, Arrays& t) {
      o.output_gate = true;
      o.head_gain.assign(static_cast<std::size_t>(s.heads), 0.7);
      t.output_gate_weight = gate({"H", s.heads});
      t.output_gate_bias = nullptr;
    });
    add("an output gate that is no number", output, [&](Options& o, Arrays& t) {
      o.output_gate = true;
      t.output_gate_weight = with_number(gate({"H", s.heads}), E, std::numeric_limits<double>::quiet_NaN());
      t.output_gate_bias = nullptr;
    });
  }

  const auto attention = FirstStage::attention;
  add("scale", attention, [](Options& o, Arrays&) { o.scale = 0.7; });
  add("softcap", attention, [](Options& o, Arrays&) { o.softcap = 1.5; });
  add("temperature", attention, [](Options& o, Arrays&) { o.temperature = 1.3; });
  add("a sink", attention, [](Options& o, Arrays&) { o.sink = {0.4}; });
  add("relative bias", attention, [&](Options& o, Arrays& t) {
    t.nonpad_kv_seqlen = nullptr;
    o.relative_bias = RelativeBias{8, 6, true};
    t.relative_bias_weight = patterned(Shape{{"buckets", 8}, {"H", s.heads}}, DType::f32, 3);
  });
  add("relative bias of keys behind", attention, [&](Options& o, Arrays& t) {
    t.nonpad_kv_seqlen = nullptr;
    o.relative_bias = RelativeBias{};
    o.relative_bias->bidirectional = false;
    o.is_causal = true;
    t.relative_bias_weight = patterned(Shape{{"buckets", 32}, {"H", s.heads}}, DType::f32, 5);
  });
  if (!zero_row && !first.tensors.bias_k && !first.tensors.static_k && !given_past_length(first.tensors)) {
    const Index columns = 2 * rotation_of(resolved_options(first)).count();
    add("an indexer", attention, [&](Options& o, Arrays& t) {
      o.indexer = Indexer{2, std::max<Index>(6, std::max(columns, s.head_dim + s.head_dim % 2)), 3};
      const Axis heads{"Hi", 2}, width{"W", o.indexer->width};
      if (o.op == Op::scaled_dot_product_attention) {
        t.indexer_q = patterned(Shape{{"N", s.batch}, heads, {"L", s.queries}, width}, DType::f32, 7);
        t.indexer_k = patterned(Shape{{"N", s.batch}, {"1", 1}, {"S", s.keys}, width}, DType::f32, 11);
        t.indexer_weights = patterned(Shape{{"N", s.batch}, {"L", s.queries}, heads}, DType::f32, 5);
        return;
      }
      t.indexer_k_norm_weight = t.indexer_k_norm_bias = nullptr;
      t.indexer_wq_b = patterned(Shape{{"Hi·W", 2 * o.indexer->width}, {"E", E}}, DType::f32, 7);
      t.indexer_wk = patterned(Shape{width, {"kdim", kdim}}, DType::f32, 11);
      t.indexer_weights_proj = patterned(Shape{heads, {"E", E}}, DType::f32, 5);
    });
  }
  add("sinks as an array", attention, [&](Options&, Arrays& t) {
    t.sinks = patterned(Shape{{"H", s.heads}}, DType::f32, 3);
  });
  add("dropout", attention, [](Options& o, Arrays&) { o.dropout = 0.25; });
  add("dropout_seed", attention, [](Options& o, Arrays&) { o.dropout_seed = 9; });
  add("causal", attention, [](Options& o, Arrays&) { o.is_causal = !o.is_causal; });
  add("causal_alignment", attention,
      [](Options& o, Arrays&) { o.causal_alignment = CausalAlignment::bottom_right; });
  add("window", attention, [](Options& o, Arrays&) {
    drop_window(o);
    o.sliding_window = 9;
  });
  add("window of two sides", attention, [](Options& o, Arrays&) {
    o.sliding_window.reset();
    o.window_left = 5;
    o.window_right = 40;
  });
  add("window with a bound ahead alone", attention, [](Options& o, Arrays&) {
    o.sliding_window.reset();
    o.window_right = 3;
  });
  if (rotary_base) {
    add("neighbours in pairs", attention,
        [](Options& o, Arrays&) { o.rotary_pairs = RotaryPairs::neighbours; });
    add("a factor of the rotation", attention, [](Options& o, Arrays&) { o.rotary_factor = 1.2; });
  }
  if (rotary_base) add("no rotary base", attention, [](Options& o, Arrays&) { o.rotary_base.reset(); });
  if (D % 2 == 0 && !zero_row && !first.tensors.bias_k && !first.tensors.static_k) {
    add("another rotary base", attention, [](Options& o, Arrays&) {
      o.rotary_base = 50.0;
      o.rotary_inverse_frequencies.clear();
    });
    add("rotary frequencies", attention, [](Options& o, Arrays&) {
      o.rotary_base.reset();
      o.rotary_inverse_frequencies = {0.5};
    });
  }
  if (first.options.op == Op::multi_head_attention && !zero_row && !first.tensors.bias_k) {
    add("qk_norm", attention, [](Options& o, Arrays& t) {
      o.qk_norm = QkNorm::whole;
      t.q_norm_weight = t.k_norm_weight = nullptr;
    });
    add("qk_norm per head, its kind, offset and epsilon", attention, [&](Options& o, Arrays& t) {
      o.qk_norm = QkNorm::per_head;
      o.qk_norm_kind = NormKind::layer;
      o.qk_norm_offset = 1.0;
      o.qk_norm_epsilon = 0.1;
      t.q_norm_weight = patterned(Shape{{"D", s.head_dim}}, DType::f32, 5);
    });
  }
  add("alibi", attention, [](Options& o, Arrays&) { o.alibi = !o.alibi; });
  add("alibi_scale", attention, [](Options& o, Arrays&) {
    o.alibi = true;
    o.alibi_scale = -0.4;
  });
  add("mask_value", attention, [](Options& o, Arrays&) { o.mask_value = -1.0; });
  add("fully_masked_rows", attention, [](Options& o, Arrays&) { o.fully_masked_rows = FullyMaskedRows::zero; });
  add("frozen head", attention, [&](Options& o, Arrays& t) {
    o.frozen_heads = {1};
    t.frozen_weights =
        patterned(Shape{{"N", s.batch}, {"F", 1}, {"L", s.queries}, {"S", s.all_keys}}, DType::f32, 13);
  });
  if (!frozen_heads.empty()) {
    add("another frozen head", attention, [&](Options& o, Arrays&) { o.frozen_heads = {s.heads - 1}; });
    add("no frozen head", attention, [&](Options& o, Arrays& t) {
      o.frozen_heads.clear();
      t.frozen_weights = nullptr;
    });
  }
  add("attn_mask", attention, [&](Options&, Arrays& t) {
    t.attn_mask = patterned(Shape{{"L", s.queries}, {"S", s.keys}}, DType::boolean, 5);
  });
  add("key_padding_mask", attention, [&](Options&, Arrays& t) {
    t.key_padding_mask = patterned(Shape{{"N", s.batch}, {"S", s.keys}}, DType::boolean, 7);
  });
  add("valid_lens", attention, [&](Options&, Arrays& t) {
    Tensor lens(Shape{{"N", s.batch}}, DType::i64);
    for (Index n = 0; n < s.batch; ++n) lens.set_flat(n, static_cast<double>(s.keys - 3 - n));
    t.valid_lens = std::make_shared<const Tensor>(std::move(lens));
  });

  add("nonpad_kv_seqlen", attention, [&](Options& o, Arrays& t) {
    o.relative_bias.reset();  // whose distances are the same in every batch
    t.relative_bias_weight = nullptr;
    Tensor lens(Shape{{"N", s.batch}}, DType::i64);
    for (Index n = 0; n < s.batch; ++n) lens.set_flat(n, static_cast<double>(s.keys - 3 - n));
    t.nonpad_kv_seqlen = std::make_shared<const Tensor>(std::move(lens));
  });

  add("equal arrays that are others", FirstStage::equal_arrays, [](Options&, Arrays& t) {
    t.query = std::make_shared<const Tensor>(Tensor(*t.query));
    t.value = std::make_shared<const Tensor>(Tensor(*t.value));
  });
  const auto tokens = FirstStage::some_tokens;
  add("a query token", tokens, [](Options&, Arrays& t) { t.query = with_number(t.query, 3, 1.5); });
  add("the last value token", tokens,
      [](Options&, Arrays& t) { t.value = with_number(t.value, t.value->size() - 1, 1.5); });
  add("a key token and the scale", tokens, [](Options& o, Arrays& t) {
    t.key = with_number(t.key, t.key->size() / 2, 1.5);
    o.scale = 0.3;
  });

  const auto projections = FirstStage::projections;
  add("in_proj_weight", projections,
      [](Options&, Arrays& t) { t.in_proj_weight = with_number(t.in_proj_weight, 7, 0.4); });
  add("in_proj_bias", projections,
      [](Options&, Arrays& t) { t.in_proj_bias = with_number(t.in_proj_bias, 2, 0.4); });
  const bool masks_of_all_keys =
      first.tensors.attn_mask || first.tensors.key_padding_mask || first.tensors.frozen_weights;
  if (!masks_of_all_keys && !first.tensors.static_k && !first.tensors.static_v)
    for (const Index length : {1, 71})
      add(length == 1 ? "a past" : "a longer past", projections, [&, length](Options&, Arrays& t) {
        const auto rows = [&](Axis width, Index every) {
          return patterned(Shape{{"N", s.batch}, {"G", s.kv_heads}, {"P", length}, std::move(width)},
                           DType::f32, every);
        };
        t.past_key = rows({"D", s.head_dim}, 7);
        t.past_value = rows({"Dv", s.v_head_dim}, 11);
      });
  add("bias_k and bias_v", projections, [&](Options& o, Arrays& t) {
    o.rotary_base.reset();
    t.bias_k = patterned(Shape{{"G·D", s.kv_heads * s.head_dim}}, DType::f32, 4);
    t.bias_v = patterned(Shape{{"G·Dv", s.kv_heads * s.v_head_dim}}, DType::f32, 4);
    if (t.frozen_weights)
      t.frozen_weights =
          patterned(Shape{{"N", s.batch}, {"F", 1}, {"L", s.queries}, {"S", s.keys + 1 + (zero_row ? 1 : 0)}},
                    DType::f32, 13);
  });
  if (frozen_heads.empty()) {
    add("add_zero_attn", projections, [](Options& o, Arrays&) {
      o.add_zero_attn = !o.add_zero_attn;
      o.rotary_base.reset();
    });
    add("half as many heads, twice as wide", projections, [](Options& o, Arrays&) {
      o.num_heads /= 2;
      o.num_kv_heads /= 2;
      o.head_dim *= 2;
      o.v_head_dim *= 2;
      o.head_gain.clear();
    });
  }
  add("the first again", behind, [](Options&, Arrays&) {});
  return all;
}

void check_agrees(const Trace& got, const Trace& expected, double bound) {
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = got.tensor(entry.id);
    if (entry.role == TensorRole::intermediate && tensor)
      check_tensor(tensor, expected.tensor(entry.id), std::string(entry.name), bound);
  }
  CHECK(got.tensors.output);
}

}  // namespace headwise::test
