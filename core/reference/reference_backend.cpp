#include "core/reference/reference_backend.h"

#include <functional>

#include "core/attention/add_and_norm.h"
#include "core/attention/attention_mask.h"
#include "core/attention/average_weights.h"
#include "core/attention/clip.h"
#include "core/attention/dropout.h"
#include "core/attention/frozen_heads.h"
#include "core/attention/heads.h"
#include "core/attention/in_projection.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/softmax.h"
#include "core/reference/reference_stages.h"
#include "core/reference/rounded_trace.h"
#include "core/reference/stage_cache.h"
#include "core/tensor/memory.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/trace_warnings.h"

namespace headwise {
namespace {

using Id = TensorId;

double choice(Index size) {
  return static_cast<double>(size);
}
double choice(bool on) {
  return on ? 1.0 : 0.0;
}

// A product beside the one before it, which `fill` makes of the tensor that it is given. Null where the one before had
// another shape: rows may have been appended to it that are no product.
TensorPtr product_beside(const TensorPtr& before, const Shape& shape,
                         const std::function<ProductChange(Tensor& out)>& fill) {
  if (before->dtype() != DType::f64 || before->shape() != shape) return nullptr;
  Tensor out = Tensor::unwritten(shape, DType::f64);
  switch (fill(out)) {
    case ProductChange::none:
      return before;
    case ProductChange::some:
      return std::make_shared<const Tensor>(std::move(out));
    case ProductChange::most:
      break;
  }
  return nullptr;
}

TensorPtr projection_beside(const Tensor& x, const LinearRows& rows, const EarlierLinear& earlier,
                            const TensorPtr& before, const Shape& shape) {
  return product_beside(before, shape, [&](Tensor& y) { return incremental_linear(x, rows, earlier, y); });
}

}  // namespace

namespace reference_stages {

// q, k and v: the input projection, or static_k and static_v joined over heads, and the appended rows.
void project(TraceTensors& t, const AttentionOptions& options, const AttentionSizes& sizes,
             StageCache& sharing) {
  const auto projected = [&](Projection which, const TensorPtr& x, const TensorPtr& own_weight, Shape out) {
    return linear(
        *x, in_projection_rows(which, options, t.in_proj_weight.get(), own_weight.get(), t.in_proj_bias.get()),
        std::move(out));
  };
  const std::vector<double> head_sizes{choice(sizes.heads), choice(sizes.kv_heads), choice(sizes.head_dim),
                                       choice(sizes.v_head_dim), choice(options.add_zero_attn)};

  // Beside what was projected before, from the sources {…, x, in_proj_weight, its own weight, in_proj_bias}.
  const auto beside = [&](Projection which, const TensorPtr& x, const TensorPtr& own_weight, Shape shape) {
    return [&, which, shape = std::move(shape)](const StageKey& key, const TensorPtr& before) -> TensorPtr {
      const std::size_t count = key.sources.size();
      if (key.choices != head_sizes || count < 4 || !key.sources[count - 4]) return nullptr;
      const TensorPtr &earlier_x = key.sources[count - 4], &packed = key.sources[count - 3];
      const TensorPtr &own = key.sources[count - 2], &bias = key.sources[count - 1];
      if (!packed != !t.in_proj_weight || !own != !own_weight) return nullptr;
      const LinearRows rows =
          in_projection_rows(which, options, t.in_proj_weight.get(), own_weight.get(), t.in_proj_bias.get());
      const LinearRows earlier = in_projection_rows(which, options, packed.get(), own.get(), bias.get());
      return projection_beside(*x, rows, {*earlier_x, earlier, *before}, before, shape);
    };
  };

  const Shape queries{{"N", sizes.batch}, {"L", sizes.queries}, {"H·D", sizes.heads * sizes.head_dim}};
  sharing.stage(
      Id::q, {head_sizes, {t.query, t.in_proj_weight, t.q_proj_weight, t.in_proj_bias}},
      [&] { return projected(Projection::q, t.query, t.q_proj_weight, queries); },
      beside(Projection::q, t.query, t.q_proj_weight, queries));

  const auto project_keys = [&](Id id, Projection which, const TensorPtr& x, const TensorPtr& own_weight,
                                const TensorPtr& replacement, const TensorPtr& bias_row, Axis width) {
    StageKey key{head_sizes, {replacement, bias_row}};
    if (!replacement)
      key.sources.insert(key.sources.end(), {x, t.in_proj_weight, own_weight, t.in_proj_bias});
    const Shape given{{"N", sizes.batch}, {"S", sizes.keys}, width};
    // Rows that were appended are no product.
    const bool product = !replacement && sizes.all_keys == sizes.keys;
    const StageCache::Update earlier =
        product ? StageCache::Update(beside(which, x, own_weight, given)) : nullptr;
    const auto make = [&] {
      Tensor rows = replacement ? merge_heads(*replacement, nullptr, width.name.c_str())
                                : projected(which, x, own_weight, given);
      if (sizes.all_keys == sizes.keys) return rows;
      return append_rows(rows, bias_row.get(), options.add_zero_attn);
    };
    sharing.stage(id, std::move(key), make, earlier);
  };
  project_keys(Id::k, Projection::k, t.key, t.k_proj_weight, t.static_k, t.bias_k,
               {"G·D", sizes.kv_heads * sizes.head_dim});
  project_keys(Id::v, Projection::v, t.value, t.v_proj_weight, t.static_v, t.bias_v,
               {"G·Dv", sizes.kv_heads * sizes.v_head_dim});
}

// scaled_dot_product_attention is given its heads as query, key and value.
void take_as_heads(TraceTensors& t) {
  t.q_heads = std::move(t.query);
  t.k_heads = std::move(t.key);
  t.v_heads = std::move(t.value);
  t.query = t.key = t.value = nullptr;
}

void split(TraceTensors& t, const AttentionOptions& options, const AttentionSizes& sizes, StageCache& sharing) {
  const auto cut = [&](Id id, const TensorPtr& x, Index heads, const char* head_axis, const char* width_axis) {
    sharing.stage(id, {{choice(heads), options.clip_qkv.value_or(0.0)}, {x}}, [&] {
      Tensor parts = split_heads(*x, heads, head_axis, width_axis);
      return options.clip_qkv ? clip(parts, *options.clip_qkv) : parts;
    });
  };
  cut(Id::q_heads, t.q, sizes.heads, "H", "D");
  cut(Id::k_heads, t.k, sizes.kv_heads, "G", "D");
  cut(Id::v_heads, t.v, sizes.kv_heads, "G", "Dv");
}

void mask(TraceTensors& t, const AttentionOptions& options, const AttentionSizes& sizes, DType dtype,
          StageCache& sharing) {
  const GivenMasks given{t.attn_mask.get(), t.key_padding_mask.get(), t.valid_lens.get()};
  if (!has_any_mask(options, given)) {
    t.masked_scores = t.scaled_scores;
    return;
  }
  const bool by_position = options.is_causal || options.sliding_window || options.alibi;
  const std::vector<double> choices{choice(static_cast<Index>(options.op)),
                                    choice(static_cast<Index>(dtype)),
                                    choice(sizes.batch),
                                    choice(sizes.heads),
                                    choice(sizes.queries),
                                    choice(sizes.keys),
                                    choice(sizes.all_keys),
                                    choice(options.is_causal),
                                    by_position ? choice(static_cast<Index>(options.causal_alignment)) : 0.0,
                                    choice(options.sliding_window.value_or(0)),
                                    options.alibi ? options.alibi_scale : 0.0,
                                    choice(options.alibi)};
  sharing.stage(Id::mask_bias, {choices, {t.attn_mask, t.key_padding_mask, t.valid_lens}},
                [&] { return merge_masks(options, given, sizes.scores_shape(), sizes.keys, dtype); });
  sharing.stage(Id::masked_scores,
                {{choice(options.mask_value.has_value()), options.mask_value.value_or(0.0)},
                 {t.scaled_scores, t.mask_bias}},
                [&] { return mask_scores(*t.scaled_scores, *t.mask_bias, options.mask_value); });
}

// Softmax and dropout, which the weights of frozen heads go past. Where every head is frozen no score is read.
void weigh(TraceTensors& t, const AttentionOptions& options, const AttentionSizes& sizes, DType dtype,
           StageCache& sharing) {
  const std::vector<Index>& frozen = options.frozen_heads;
  const bool all_frozen = static_cast<Index>(frozen.size()) == sizes.heads;
  const auto choices_and_heads = [&](std::vector<double> choices) {
    for (const Index head : frozen) choices.push_back(choice(head));
    return choices;
  };
  if (all_frozen) {
    sharing.stage(Id::attn_weights, {choices_and_heads({}), {t.frozen_weights}}, [&] {
      return with_frozen_heads(Tensor(sizes.scores_shape(), dtype), *t.frozen_weights, frozen);
    });
  } else {
    sharing.stage(Id::attn_weights,
                  {choices_and_heads({choice(static_cast<Index>(options.fully_masked_rows))}),
                   {t.masked_scores, t.frozen_weights}},
                  [&] {
                    Tensor weights = softmax(*t.masked_scores, options.fully_masked_rows);
                    if (frozen.empty()) return weights;
                    return with_frozen_heads(std::move(weights), *t.frozen_weights, frozen);
                  });
  }
  if (options.dropout == 0.0 || all_frozen) {
    t.dropped_weights = t.attn_weights;
    return;
  }
  const auto seed_low = static_cast<Index>(options.dropout_seed & 0xFFFFFFFFu);
  const auto seed_high = static_cast<Index>(options.dropout_seed >> 32);
  sharing.stage(Id::dropped_weights,
                {choices_and_heads({options.dropout, choice(seed_low), choice(seed_high)}), {t.attn_weights}},
                [&] {
                  Tensor dropped = dropout(*t.attn_weights, options.dropout, options.dropout_seed);
                  if (frozen.empty()) return dropped;
                  return with_frozen_heads(std::move(dropped), *t.frozen_weights, frozen);
                });
}

// q_heads and k_heads, each row by its position.
void rotate(TraceTensors& t, const AttentionOptions& options, const AttentionSizes& sizes, StageCache& sharing) {
  const std::vector<double> frequencies = rotary_inverse_frequencies(options);
  if (frequencies.empty()) return;
  const auto turned = [&](Id id, const TensorPtr& heads, Index first_position) {
    std::vector<double> choices{choice(first_position)};
    choices.insert(choices.end(), frequencies.begin(), frequencies.end());
    sharing.stage(id, {std::move(choices), {heads}},
                  [&] { return rotary_embedding(*heads, frequencies, first_position); });
  };
  turned(Id::q_rotary, t.q_heads, rotary_first_query(options, sizes.queries, sizes.keys));
  turned(Id::k_rotary, t.k_heads, 0);
}

// From q_heads, k_heads and v_heads to head_output.
void scaled_dot_product_attention(TraceTensors& t, const AttentionOptions& options,
                                  const AttentionSizes& sizes, DType dtype, StageCache& sharing) {
  rotate(t, options, sizes, sharing);
  const TensorPtr &q = queries_of_scores(t), &k = keys_of_scores(t);
  sharing.stage(
      Id::scores, {{}, {q, k}}, [&] { return attention_scores(*q, *k, sizes.scores_shape()); },
      [&](const StageKey& key, const TensorPtr& before) {
        return product_beside(before, sizes.scores_shape(), [&](Tensor& scores) {
          const EarlierHeads earlier{*key.sources[0], *key.sources[1], *before};
          return incremental_attention_scores(*q, *k, earlier, scores);
        });
      });

  const ScoreScale scale = score_scale(options);
  sharing.stage(Id::scaled_scores, {{scale.scale, scale.temperature, scale.softcap}, {t.scores}},
                [&] { return scale_scores(*t.scores, scale); });

  mask(t, options, sizes, dtype, sharing);

  weigh(t, options, sizes, dtype, sharing);

  sharing.stage(
      Id::head_output, {{}, {t.dropped_weights, t.v_heads}},
      [&] { return weighted_sum(*t.dropped_weights, *t.v_heads); },
      [&](const StageKey& key, const TensorPtr& before) {
        const Shape shape{
            {"N", sizes.batch}, {"H", sizes.heads}, {"L", sizes.queries}, {"Dv", sizes.v_head_dim}};
        return product_beside(before, shape, [&](Tensor& head_output) {
          const EarlierHeads earlier{*key.sources[0], *key.sources[1], *before};
          return incremental_weighted_sum(*t.dropped_weights, *t.v_heads, earlier, head_output);
        });
      });
}

void merge_and_project(TraceTensors& t, const AttentionSizes& sizes, StageCache& sharing) {
  sharing.stage(Id::concat, {{}, {t.head_output, t.head_gain}},
                [&] { return merge_heads(*t.head_output, t.head_gain.get(), "H·Dv"); });
  const LinearRows out_rows{t.out_proj_weight.get(), 0, t.out_proj_bias.get(), 0};
  const Shape shape{{"N", sizes.batch}, {"L", sizes.queries}, {"E", sizes.embed_dim}};
  sharing.stage(
      Id::output, {{}, {t.concat, t.out_proj_weight, t.out_proj_bias}},
      [&] { return linear(*t.concat, out_rows, shape); },
      [&](const StageKey& key, const TensorPtr& before) {
        const LinearRows earlier{key.sources[1].get(), 0, key.sources[2].get(), 0};
        return projection_beside(*t.concat, out_rows, {*key.sources[0], earlier, *before}, before, shape);
      });
}

void add_and_norm(TraceTensors& t, const AttentionOptions& options, StageCache& sharing) {
  if (options.residual) {
    sharing.stage(Id::residual_output, {{}, {t.query, t.output}},
                  [&] { return add_residual(*t.query, *t.output); });
  }
  if (options.layer_norm) {
    const TensorPtr& sum = options.residual ? t.residual_output : t.output;
    sharing.stage(Id::layer_norm_output, {{}, {sum}}, [&] { return layer_norm(*sum); });
  }
}

void return_weights(TraceTensors& t, const AttentionOptions& options, StageCache& sharing) {
  if (!options.need_weights) return;
  if (options.average_attn_weights) {
    sharing.stage(Id::attn_output_weights, {{}, {t.dropped_weights}},
                  [&] { return average_over_heads(*t.dropped_weights); });
  } else {
    t.attn_output_weights = t.dropped_weights;
  }
}

// options.head_gain as a tensor, the previous one where it holds the same numbers: equal gains are an equal
// source.
TensorPtr head_gain_tensor(const AttentionInputs& inputs, const Trace* previous) {
  if (inputs.tensors.head_gain || inputs.options.head_gain.empty()) return inputs.tensors.head_gain;
  const std::vector<double>& gains = inputs.options.head_gain;
  auto made = std::make_shared<const Tensor>(
      Tensor(Shape{{"H", static_cast<Index>(gains.size())}}, gains).converted(inputs.dtype));
  const TensorPtr earlier = previous ? previous->tensors.head_gain : nullptr;
  return earlier && identical(*earlier, *made) ? earlier : made;
}

}  // namespace reference_stages

TracePtr reference_forward(const AttentionInputs& inputs, const Trace* previous) {
  check_attention_inputs(inputs);
  if (inputs.dtype == DType::f32) {
    if (TracePtr trace = rounded_forward(inputs, previous)) return trace;
  }
  const AttentionSizes sizes = attention_sizes(inputs);
  // Beside a trace of the same sizes most tensors are shared: then each new one asks for its own memory.
  const bool mostly_shared = previous && previous->dtype == inputs.dtype && previous->tensors.scores &&
                             previous->tensors.scores->shape() == sizes.scores_shape();
  if (!mostly_shared) require_memory(reference_trace_bytes(inputs), "the trace");

  const auto trace = std::make_shared<Trace>();
  trace->options = resolved_options(inputs);
  trace->dtype = inputs.dtype;
  trace->tensors = inputs.tensors;
  TraceTensors& t = trace->tensors;
  StageCache sharing(*trace, previous);
  using namespace reference_stages;
  if (inputs.options.op == Op::multi_head_attention) {
    t.head_gain = head_gain_tensor(inputs, previous);
    project(t, trace->options, sizes, sharing);
    split(t, trace->options, sizes, sharing);
    scaled_dot_product_attention(t, trace->options, sizes, trace->dtype, sharing);
    merge_and_project(t, sizes, sharing);
    add_and_norm(t, trace->options, sharing);
    return_weights(t, trace->options, sharing);
  } else {
    take_as_heads(t);
    scaled_dot_product_attention(t, trace->options, sizes, trace->dtype, sharing);
    t.output = t.head_output;
  }
  trace->warnings = trace_warnings(*trace);
  return trace;
}

}  // namespace headwise
