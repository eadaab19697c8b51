// Multi-head attention from top to bottom: "Attention Is All You Need" (Vaswani et al., 2017), section 3.2,
// in the steps of F.multi_head_attention_forward and F.scaled_dot_product_attention. Each stage lists the
// tensors that it reads and the options that it depends on, so that whoever takes it (stage_cache.h) knows
// what follows from an edit.
//
//   N batch   L queries   S keys, S′ with those of a past and appended ones   E embedding   H heads
//   G key/value heads     D, Dv width of a head
#include "core/attention/multi_head_attention.h"

#include "core/attention/add_and_norm.h"
#include "core/attention/attention_mask.h"
#include "core/attention/heads.h"
#include "core/attention/in_projection.h"
#include "core/attention/indexer.h"
#include "core/attention/latent_attention.h"
#include "core/attention/norm.h"
#include "core/attention/output_gate.h"
#include "core/attention/relative_bias.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"

namespace headwise {
namespace {

using Id = TensorId;
using Update = Stage::Update;

// The product as `fill` writes it into the given tensor. Null if the earlier one had another shape: appended
// rows, which are not part of a product, may have been added to it.
TensorPtr product_from(const TensorPtr& before, const Shape& shape,
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

// Updates that avoid recomputing a whole product: only rows and columns whose sources
// have changed are computed (core/attention/matrix_product.h).

// x·Wᵀ + b of `shape`, for a stage whose first source is x. `earlier_rows` finds W and b among the sources of
// the earlier stage; nullopt if that was a different product.
// `x` and `rows` must outlive the call of the update.
using EarlierRows = std::function<std::optional<LinearRows>(const StageKey& earlier)>;
Update update_linear(const TensorPtr& x, const LinearRows& rows, Shape shape, EarlierRows earlier_rows) {
  return [x, rows, shape = std::move(shape), earlier_rows = std::move(earlier_rows)](
             const StageKey& earlier, const TensorPtr& before) -> TensorPtr {
    const std::optional<LinearRows> earlier_weights = earlier_rows(earlier);
    if (!earlier_weights) return nullptr;
    return product_from(before, shape, [&](Tensor& y) {
      return incremental_linear(*x, rows, {*earlier.sources[0], *earlier_weights, *before}, y);
    });
  };
}

// A product per head, attention_scores or weighted_sum, for a stage whose sources are its two factors.
using IncrementalHeads = ProductChange (*)(const Tensor& left, const Tensor& right,
                                           const EarlierHeads& earlier, Tensor& out);
Update update_heads(const TensorPtr& left, const TensorPtr& right, Shape shape, IncrementalHeads product) {
  return [left, right, shape = std::move(shape), product](const StageKey& earlier, const TensorPtr& before) {
    return product_from(before, shape, [&](Tensor& out) {
      return product(*left, *right, {*earlier.sources[0], *earlier.sources[1], *before}, out);
    });
  };
}

// One of q, k and v, and what it is computed from.
struct Projected {
  Id id;
  TensorPtr x, own_weight;          // own_weight: null if the weights are packed
  TensorPtr replacement, bias_row;  // static_k and bias_k, or static_v and bias_v; null for q
};

Projected projected(const TraceTensors& t, Projection which) {
  if (which == Projection::q) return {Id::q, t.query, t.q_proj_weight, nullptr, nullptr};
  if (which == Projection::k) return {Id::k, t.key, t.k_proj_weight, t.static_k, t.bias_k};
  return {Id::v, t.value, t.v_proj_weight, t.static_v, t.bias_v};
}

// The first step:
// q, k or v (N,L,H·D), (N,S′,G·D), (N,S′,G·Dv): x·Wᵀ + b, or static_k or static_v with its heads side by
// side, and the rows appended by bias_k, bias_v and add_zero_attn. The matrix is either a range of rows of
// in_proj_weight or separate.
void input_projection(ForwardPass& pass, Projection which) {
  const TraceTensors& t = pass.tensors;
  const AttentionOptions& options = pass.options;
  const AttentionSizes& s = pass.sizes;
  const Projected p = projected(t, which);
  if (pass.stages.keeps(p.id)) return;
  std::vector<Axis> axes = computed_shape(p.id, options, s).axes();
  if (which != Projection::q) axes[1] = {"S", s.new_keys()};
  const Shape shape(std::move(axes));
  const bool appends = which != Projection::q && s.all_keys != s.keys;
  const auto rows_of = [&options, which](const TensorPtr& packed, const TensorPtr& own, const TensorPtr& bias) {
    return in_projection_rows(which, options, packed.get(), own.get(), bias.get());
  };

  const std::vector<double> choices =
      stage_choices(s.heads, s.kv_heads, s.head_dim, s.v_head_dim, options.add_zero_attn);
  std::vector<TensorPtr> sources{p.replacement, p.bias_row};
  if (!p.replacement) sources = {p.x, t.in_proj_weight, p.own_weight, t.in_proj_bias, p.bias_row};
  const auto compute = [&] {
    Tensor rows = p.replacement ? merge_heads(*p.replacement, nullptr, shape.name(2).c_str())
                                : linear(*p.x, rows_of(t.in_proj_weight, p.own_weight, t.in_proj_bias), shape);
    if (!appends) return rows;
    return append_rows(rows, p.bias_row.get(), options.add_zero_attn);
  };
  Update update;
  if (!p.replacement && !appends) {  // appended rows are not part of a product
    const auto earlier_rows = [&](const StageKey& earlier) -> std::optional<LinearRows> {
      const auto& from = earlier.sources;
      const bool same_layout = from.size() == sources.size() && from[0] && !from[1] == !t.in_proj_weight &&
                               !from[2] == !p.own_weight;
      if (!same_layout || earlier.choices != choices) return std::nullopt;
      return rows_of(from[1], from[2], from[3]);
    };
    update = update_linear(p.x, rows_of(t.in_proj_weight, p.own_weight, t.in_proj_bias), shape, earlier_rows);
  }
  pass.stages.run(p.id, sources, compute, choices, update);
}

// The tensor that `id` is made of, on the way to the scores.
const TensorPtr& source_of(const ForwardPass& pass, Id id) {
  return pass.tensors.*(tensor_entry(made_of(id, pass.options)).member);
}

// q_normed and k_normed, if this is the place for them.
void normalise(ForwardPass& pass, QkNorm place) {
  if (pass.options.qk_norm != place) return;
  const Norm norm = qk_norm_of(pass.options);
  const auto run = [&](Id id, const TensorPtr& weight) {
    if (pass.stages.keeps(id)) return;
    const TensorPtr& x = source_of(pass, id);
    pass.stages.run(
        id, {x, weight}, [&] { return normalised(*x, weight.get(), norm); },
        stage_choices(place, norm.kind, norm.epsilon, norm.offset));
  };
  run(Id::q_normed, pass.tensors.q_norm_weight);
  run(Id::k_normed, pass.tensors.k_norm_weight);
}

// The second result of nn.MultiheadAttention.
void return_weights(ForwardPass& pass) {
  TraceTensors& t = pass.tensors;
  const AttentionOptions& options = pass.options;
  if (!options.need_weights) {
    pass.stages.none(Id::attn_output_weights, t.dropped_weights);
  } else if (options.average_attn_weights) {
    pass.stages.run(Id::attn_output_weights, {t.dropped_weights},
                    [&] { return average_over_heads(*t.dropped_weights); });
  } else {
    pass.stages.same(Id::attn_output_weights, t.dropped_weights);
  }
}

// Everything that mask_bias depends on besides the given masks.
std::vector<double> mask_choices(const ForwardPass& pass) {
  const AttentionOptions& o = pass.options;
  const AttentionSizes& s = pass.sizes;
  const PositionWindow seen = seen_by_position(o);
  std::vector<double> choices =
      stage_choices(o.op, pass.dtype, s.batch, s.heads, s.queries, s.keys, s.all_keys, o.is_causal,
                    depends_on_distance(o) ? static_cast<double>(o.causal_alignment) : 0.0,
                    depends_on_distance(o) ? s.past : Index{0}, seen.behind, seen.ahead, o.alibi,
                    o.alibi ? o.alibi_scale : 0.0);
  if (const auto& relative = o.relative_bias)
    for (const Index choice : {relative->buckets, relative->max_distance, Index{relative->bidirectional}})
      choices.push_back(static_cast<double>(choice));
  return choices;
}

// What the masks are merged from.
std::vector<TensorPtr> mask_sources(const TraceTensors& t) {
  return {t.attn_mask, t.key_padding_mask, t.valid_lens, t.nonpad_kv_seqlen, t.relative_bias_weight};
}

std::vector<double> with_frozen(std::vector<double> choices, const AttentionOptions& options) {
  for (const Index head : options.frozen_heads) choices.push_back(static_cast<double>(head));
  return choices;
}

}  // namespace

void attention(ForwardPass& pass) {
  TraceTensors& t = pass.tensors;
  if (projects(pass.options.op)) {
    make_heads(pass);
    score_keys(pass);
    scaled_dot_product_attention(pass);
    expand_latent_output(pass);
    merge_and_project(pass);
    add_and_norm(pass);
    return_weights(pass);
    return;
  }
  for (const Id id : {Id::q, Id::k, Id::v}) pass.stages.none(id, nullptr);
  pass.stages.same(Id::q_heads, t.q_heads);
  pass.stages.same(Id::k_heads, t.k_heads);
  pass.stages.same(Id::v_heads, t.v_heads);
  make_heads(pass);
  score_keys(pass);
  scaled_dot_product_attention(pass);
  pass.stages.same(Id::output, t.head_output);
}

void make_heads(ForwardPass& pass) {
  if (is_latent(pass.options)) return project_latents(pass);
  if (projects(pass.options.op)) project_and_split(pass);
  rotate_by_position(pass);
  append_to_past(pass);
}

void project_and_split(ForwardPass& pass) {
  TraceTensors& t = pass.tensors;
  const AttentionOptions& options = pass.options;
  const AttentionSizes& s = pass.sizes;

  // q = query·W_qᵀ + b_q                        (N,L,E)   → (N,L,H·D)      one product for all heads
  //                                             together;
  // k = key·W_kᵀ + b_k, v = value·W_vᵀ + b_v    (N,S,…)   → (N,S′,G·D), (N,S′,G·Dv)
  for (const Projection which : {Projection::q, Projection::k, Projection::v}) input_projection(pass, which);

  if (!options.qk_norm) {
    pass.stages.none(Id::q_normed, t.q);
    pass.stages.none(Id::k_normed, t.k);
  }
  normalise(pass, QkNorm::whole);

  // Head h takes columns [h·D, (h+1)·D).        (N,L,H·D) → (N,H,L,D)
  const auto split = [&](Id id, const TensorPtr& x, Index heads, const char* head_axis, const char* width_axis) {
    if (pass.stages.keeps(id)) return;
    const auto compute = [&] {
      Tensor parts = split_heads(*x, heads, head_axis, width_axis);
      if (!options.clip_qkv) return parts;
      return clip(parts, *options.clip_qkv);
    };
    pass.stages.run(id, {x}, compute, stage_choices(heads, options.clip_qkv.value_or(0.0)));
  };
  split(Id::q_heads, source_of(pass, Id::q_heads), s.heads, "H", "D");
  split(Id::k_heads, source_of(pass, Id::k_heads), s.kv_heads, "G", "D");
  split(Id::v_heads, t.v, s.kv_heads, "G", "Dv");
  normalise(pass, QkNorm::per_head);
}

// Rotary position embedding, if the options request it: rows of q and k rotated by their positions.
void rotate_by_position(ForwardPass& pass) {
  const AttentionSizes& s = pass.sizes;
  const Rotation rotation = rotation_of(pass.options);
  const auto rotated = [&](Id id, const TensorPtr& as_split, Index first_position) {
    if (pass.stages.keeps(id)) return;
    if (!rotation) return pass.stages.none(id, as_split);
    const TensorPtr& heads = source_of(pass, id);
    std::vector<double> choices = stage_choices(first_position);
    const std::vector<double> numbers = rotation.numbers();
    choices.insert(choices.end(), numbers.begin(), numbers.end());
    const auto compute = [&] { return rotary_embedding(*heads, rotation, first_position); };
    pass.stages.run(id, {heads}, compute, std::move(choices));
  };
  rotated(Id::q_rotary, pass.tensors.q_heads, rotary_first_query(pass.options, s.queries, s.keys));
  rotated(Id::k_rotary, pass.tensors.k_heads, rotary_first_key(pass.options));
  normalise(pass, QkNorm::per_head_after_rotary);
}

// present_key = [past_key; k], present_value = [past_value; v]: the past is in front, as a cache keeps it,
// already normalised and rotated.                                            (N,G,S′,D), (N,G,S′,Dv)
// Of latents present_compressed_kv and present_k_rot likewise.               (N,S′,C), (N,1,S′,R)
void append_to_past(ForwardPass& pass) {
  for (const auto& [past_id, id] : cached_tensors(pass.options.op)) {
    if (pass.stages.keeps(id)) continue;
    const TensorPtr &past = pass.tensors.*(tensor_entry(past_id).member), &rows = source_of(pass, id);
    if (pass.options.past_length)
      pass.stages.run(id, {past, rows}, [&] { return with_past(*past, *rows, pass.sizes.key_axis()); });
    else
      pass.stages.none(id, rows);
  }
}

void scaled_dot_product_attention(ForwardPass& pass) {
  TraceTensors& t = pass.tensors;
  const AttentionOptions& options = pass.options;
  const AttentionSizes& s = pass.sizes;
  Stages& stages = pass.stages;

  // Pass 1: scores[n,h,l,s] = Σ_d q[n,h,l,d]·k[n,g,s,d], g = h/(H/G)                       (N,H,L,S′)
  const TensorPtr &q = queries_of_scores(t, options), &k = keys_of_scores(t, options);
  const Shape map = s.scores_shape();
  const auto multiply_keys = [&] { return attention_scores(*q, *k, map); };
  stages.run(Id::scores, {q, k}, multiply_keys, {}, update_heads(q, k, map, incremental_attention_scores));

  // Pass 2: scaled_scores = scores/√D, unless the options say otherwise
  const ScoreScale scale = score_scale(options);
  stages.run(
      Id::scaled_scores, {t.scores}, [&] { return scale_scores(*t.scores, scale); }, scale.choices());

  // Pass 3: masked_scores = scaled_scores + mask_bias; mask_bias is −∞ where a key is hidden from a query
  const GivenMasks masks = given_masks(t);
  if (options.relative_bias) {  // position_bias[0,h,l,s] = relative_attention_bias.weight[bucket(s − l), h]
    stages.run(
        Id::position_bias, {t.relative_bias_weight},
        [&] {
          return position_bias(*options.relative_bias, *t.relative_bias_weight,
                               computed_shape(Id::position_bias, options, s), s.keys,
                               causal_offset(options, s.queries, s.keys));
        },
        mask_choices(pass));
  } else {
    stages.none(Id::position_bias, nullptr);
  }
  if (has_any_mask(options, masks)) {
    const auto merge = [&] { return merge_masks(options, masks, map, s.keys, pass.dtype); };
    std::vector<TensorPtr> sources = mask_sources(t);
    std::vector<double> choices = mask_choices(pass);
    if (options.indexer) {  // the k keys with the largest indexer_scores, of those that the other masks leave
      sources.push_back(t.indexer_scores);
      choices.push_back(static_cast<double>(options.indexer->k));
    }
    stages.run(Id::mask_bias, std::move(sources), merge, std::move(choices));
  } else {
    stages.none(Id::mask_bias, nullptr);
  }
  if (t.mask_bias) {
    const auto add = [&] { return mask_scores(*t.scaled_scores, *t.mask_bias, options.mask_value); };
    stages.run(Id::masked_scores, {t.scaled_scores, t.mask_bias}, add,
               stage_choices(options.mask_value.has_value(), options.mask_value.value_or(0.0)));
  } else {
    stages.same(Id::masked_scores, t.scaled_scores);
  }

  // lse = ln Σ_s exp(masked_scores[…,s]), and what the sink takes of each row:
  // exp(sink) / (exp(sink) + exp(lse))
  stages.run(Id::lse, {t.masked_scores}, [&] { return log_sum_exp(*t.masked_scores); });
  if (t.sinks)
    stages.run(Id::sink_weights, {t.lse, t.sinks}, [&] { return sink_shares(*t.lse, *t.sinks); });
  else
    stages.none(Id::sink_weights, t.lse);

  // full_weights: Pass 4 without the indexer's choice
  if (options.indexer) {
    std::vector<TensorPtr> sources = mask_sources(t);
    sources.insert(sources.end(), {t.scaled_scores, t.sinks, t.frozen_weights});
    std::vector<double> choices = with_frozen(mask_choices(pass), options);
    choices.insert(choices.end(),
                   {static_cast<double>(options.fully_masked_rows),
                    static_cast<double>(options.mask_value.has_value()), options.mask_value.value_or(0.0)});
    const auto weights = [&] {
      const Tensor bias = merge_masks(without_indexer(options), masks, map, s.keys, pass.dtype);
      return full_weights(*t.scaled_scores, bias, options, t.sinks.get(), t.frozen_weights.get());
    };
    stages.run(Id::full_weights, std::move(sources), weights, std::move(choices));
  } else {
    stages.none(Id::full_weights, nullptr);
  }

  // Pass 4: attn_weights[…,s] = exp(masked_scores[…,s]) / Σ_s exp(masked_scores[…,s]), with exp(sink) in the
  // sum where there are sinks. Frozen heads use the weights they were given.
  const std::vector<Index>& frozen = options.frozen_heads;
  const bool all_frozen = static_cast<Index>(frozen.size()) == s.heads;
  const auto freeze = [&](Tensor weights) {
    if (frozen.empty()) return weights;
    return with_frozen_heads(std::move(weights), *t.frozen_weights, frozen);
  };
  if (all_frozen) {
    const auto weights = [&] { return freeze(Tensor(map, pass.dtype)); };
    stages.run(Id::attn_weights, {t.frozen_weights}, weights, with_frozen({}, options));
  } else {
    const auto weights = [&] {
      return freeze(softmax(*t.masked_scores, options.fully_masked_rows, t.sinks.get()));
    };
    stages.run(Id::attn_weights, {t.masked_scores, t.sinks, t.frozen_weights}, weights,
               with_frozen(stage_choices(options.fully_masked_rows), options));
  }

  // Dropout sets each weight to 0 with probability p and divides the others by 1 − p; not in frozen heads.
  if (options.dropout == 0.0 || all_frozen) {
    stages.same(Id::dropped_weights, t.attn_weights);
  } else {
    const auto drop = [&] { return freeze(dropout(*t.attn_weights, options.dropout, options.dropout_seed)); };
    stages.run(Id::dropped_weights, {t.attn_weights}, drop, with_frozen(seed_choices(options), options));
  }

  // Pass 5: head_output[n,h,l,e] = Σ_s dropped_weights[n,h,l,s]·v[n,g,s,e]                 (N,H,L,Dv)
  // In the absorbed layout latent_output, whose v are the latents, the same for all heads: (N,H,L,C)
  const TensorPtr& v = values_of_sum(t);
  const Id sum = sum_of_values(options);
  if (v->shape().rank() == 3) {
    stages.run(sum, {t.dropped_weights, v}, [&] {
      return weighted_sum(*t.dropped_weights, as_one_head(*v)).reshaped(computed_shape(sum, options, s));
    });
    return;
  }
  const auto add_values = [&] { return weighted_sum(*t.dropped_weights, *v); };
  stages.run(sum, {t.dropped_weights, v}, add_values, {},
             update_heads(t.dropped_weights, v, computed_shape(sum, options, s), incremental_weighted_sum));
}

void merge_and_project(ForwardPass& pass) {
  TraceTensors& t = pass.tensors;

  // The heads side by side, each times its gain:
  // concat[n,l,h·Dv+e] = gain[h]·head_output[n,h,l,e]   (N,L,H·Dv)
  const auto merge = [&] { return merge_heads(*t.head_output, t.head_gain.get(), "H·Dv"); };
  pass.stages.run(Id::concat, {t.head_output, t.head_gain}, merge);

  // output_gate = query·W_gᵀ + b_g                   (N,L,E) → (N,L,H·Dv), or (N,L,H): one for each head
  // gated_concat = concat ⊙ σ(output_gate)                                                 (N,L,H·Dv)
  if (pass.options.output_gate) {
    const LinearRows w_g{t.output_gate_weight.get(), 0, t.output_gate_bias.get(), 0};
    const Shape shape = computed_shape(Id::output_gate, pass.options, pass.sizes);
    const auto earlier_w_g = [](const StageKey& earlier) -> std::optional<LinearRows> {
      return LinearRows{earlier.sources[1].get(), 0, earlier.sources[2].get(), 0};
    };
    pass.stages.run(
        Id::output_gate, {t.query, t.output_gate_weight, t.output_gate_bias},
        [&] { return pass.linear(*t.query, w_g, shape); }, {}, update_linear(t.query, w_g, shape, earlier_w_g));
    pass.stages.run(Id::gated_concat, {t.concat, t.output_gate},
                    [&] { return gated(*t.concat, *t.output_gate); });
  } else {
    pass.stages.none(Id::output_gate, t.concat);
    pass.stages.none(Id::gated_concat, t.concat);
  }

  // output = concat·W_Oᵀ + b_O                                                             (N,L,E)
  const TensorPtr& rows = t.*tensor_entry(rows_of_output(t)).member;
  const LinearRows w_o{t.out_proj_weight.get(), 0, t.out_proj_bias.get(), 0};
  const Shape shape = computed_shape(Id::output, pass.options, pass.sizes);
  const auto earlier_w_o = [](const StageKey& earlier) {
    return LinearRows{earlier.sources[1].get(), 0, earlier.sources[2].get(), 0};
  };
  const auto project = [&] { return pass.linear(*rows, w_o, shape); };
  pass.stages.run(Id::output, {rows, t.out_proj_weight, t.out_proj_bias}, project, {},
                  update_linear(rows, w_o, shape, earlier_w_o));
}

// What a transformer block adds around the operator: LayerNorm(query + output), either part if requested.
void add_and_norm(ForwardPass& pass) {
  TraceTensors& t = pass.tensors;
  const auto add = [&] { return add_residual(*t.query, *t.output); };
  if (pass.options.residual)
    pass.stages.run(Id::residual_output, {t.query, t.output}, add);
  else
    pass.stages.none(Id::residual_output, t.output);
  const TensorPtr& sum = pass.options.residual ? t.residual_output : t.output;
  if (pass.options.layer_norm)
    pass.stages.run(Id::layer_norm_output, {sum}, [&] { return layer_norm(*sum); });
  else
    pass.stages.none(Id::layer_norm_output, sum);
}

}  // namespace headwise
