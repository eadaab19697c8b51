#include <array>
#include <optional>

#include "core/attention/add_and_norm.h"
#include "core/attention/attention_mask.h"
#include "core/attention/backward_stages.h"
#include "core/attention/grad_output.h"
#include "core/attention/heads.h"
#include "core/attention/in_projection.h"
#include "core/attention/latent_attention.h"
#include "core/attention/linear.h"
#include "core/attention/output_gate.h"
#include "core/attention/reference_backend.h"
#include "core/attention/relative_bias.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

TensorPtr kept(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

bool is_float(const TensorPtr& tensor) {
  return tensor && (tensor->dtype() == DType::f32 || tensor->dtype() == DType::f64);
}

Index gradient_bytes(const Trace& forward) {
  Index bytes = 0;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = forward.tensor(entry.id);
    if (is_float(tensor)) bytes += static_cast<Index>(tensor->bytes());
  }
  return bytes;
}

// Whether most gradients of `previous` are likely to be shared: then each new one checks its own memory.
bool shares_with(const Trace& forward, const Trace* previous) {
  return previous && previous->grad.scores && previous->dtype == forward.dtype &&
         previous->grad.scores->shape() == forward.tensors.scores->shape();
}

// Each function propagates the gradient from what a step computes to what it reads, in the reverse order of
// computation.
class Backward : BackwardStages {
 public:
  using BackwardStages::BackwardStages;
  using BackwardStages::project_latents;

  void add_and_norm() {
    if (t_.layer_norm_output) {
      const TensorId sum = t_.residual_output ? TensorId::residual_output : TensorId::output;
      const TensorPtr& x = t_.residual_output ? t_.residual_output : t_.output;
      stage(sum, {g_.layer_norm_output, x}, [&] { return layer_norm_gradient(*g_.layer_norm_output, *x); });
    }
    if (t_.residual_output) g_.output = g_.residual_output;
  }

  void merge_and_project() {
    const TensorId joined = rows_of_output(t_);
    stage(joined, {g_.output, t_.out_proj_weight},
          [&] { return linear_input_gradient(*g_.output, {t_.out_proj_weight.get()}, t_.concat->shape()); });
    linear_parameters(Id::out_proj_weight, Id::out_proj_bias, g_.output, t(joined));
    if (joined == Id::gated_concat) gate();
    stage(TensorId::head_output, {g_.concat, t_.head_gain},
          [&] { return merge_heads_gradient(*g_.concat, t_.head_gain.get(), t_.head_output->shape()); });
    if (t_.head_gain) {
      stage(TensorId::head_gain, {g_.concat, t_.head_output},
            [&] { return head_gain_gradient(*g_.concat, *t_.head_output, t_.head_gain->shape()); });
    }
  }

  void scaled_dot_product_attention() {
    const std::vector<TensorId> of_v = path_of_values(o_);
    const TensorPtr& v = t(of_v.back());
    if (sizes_.absorbed) {  // latents have further readers: project_latents adds all of them up
      stage(Id::latent_output, {g_.head_output, t_.kv_b_weight},
            [&] { return values_of_latents_gradient(*g_.head_output, *t_.kv_b_weight, sizes_); });
      stage(Id::dropped_weights, {g_.latent_output, v}, [&] {
        return weighted_sum_weights_gradient(*g_.latent_output, as_one_head(*v), t_.attn_weights->shape());
      });
    } else {
      stage(TensorId::dropped_weights, {g_.head_output, v},
            [&] { return weighted_sum_weights_gradient(*g_.head_output, *v, t_.attn_weights->shape()); });
      stage(of_v.back(), {g_.head_output, t_.dropped_weights},
            [&] { return weighted_sum_values_gradient(*g_.head_output, *t_.dropped_weights, v->shape()); });
    }
    if (of_v.back() == Id::present_value) back_through(Id::present_value, Id::v_heads);
    weights();
    mask();
    const ScoreScale scale = score_scale(o_);
    stage(
        TensorId::scores, {g_.scaled_scores, scale.is_linear() ? nullptr : t_.scores},
        [&] { return scale_scores_gradient(*g_.scaled_scores, *t_.scores, scale); }, scale.choices());
    const std::vector<TensorId> of_q = path_of_queries(o_), of_k = path_of_keys(o_);
    const TensorPtr &q = t(of_q.back()), &k = t(of_k.back());
    stage(of_q.back(), {g_.scores, k},
          [&] { return attention_scores_query_gradient(*g_.scores, *k, q->shape()); });
    stage(of_k.back(), {g_.scores, q},
          [&] { return attention_scores_key_gradient(*g_.scores, *q, k->shape()); });
    for (const std::vector<TensorId>& path : {of_q, of_k})
      for (std::size_t i = path.size(); t(path[i - 1])->shape().rank() == 4 && i > 1; --i)
        if (path[i - 1] != Id::q_heads && path[i - 1] != Id::k_heads) back_through(path[i - 1], path[i - 2]);
  }

  void project() {
    for (const Path& path : paths) {
      const TensorId before = path.which == Projection::v ? path.projected : made_of(path.heads, o_);
      const TensorPtr &heads = g(path.heads), &joined = t(before);
      const auto join = [&] {  // where numbers were clipped, their gradient is 0
        Tensor gradient = merge_heads(*heads, nullptr, path.joined_axis);
        return o_.clip_qkv ? clip_gradient(gradient, *joined, *o_.clip_qkv) : gradient;
      };
      stage(before, {heads, o_.clip_qkv ? joined : nullptr}, join, {o_.clip_qkv.value_or(0.0)});
      if (before != path.projected) back_through(before, path.projected);
    }
    for (const Path& path : paths) {  // through the appended rows, and static_k and static_v
      const TensorPtr& rows = g(path.projected);
      if (path.bias_row && t(*path.bias_row))
        stage(*path.bias_row, {rows},
              [&] { return bias_row_gradient(*rows, sizes_.new_keys(), t(*path.bias_row)->shape()); });
      if (is_replaced(path))
        stage(*path.replacement, {rows},
              [&] { return split_heads(*projected_rows(path), sizes_.kv_heads, "G", path.width_axis); });
    }
    project_parameters();
    project_inputs();
  }

 private:
  // The way back from one of q, k and v to what it was projected from.
  struct Path {
    Projection which;
    TensorId projected, heads, input, own_weight;
    std::optional<TensorId> bias_row, replacement;
    const char *width_axis, *joined_axis;
  };
  static constexpr Path paths[]{
      {Projection::q, Id::q, Id::q_heads, Id::query, Id::q_proj_weight, {}, {}, "D", "H·D"},
      {Projection::k, Id::k, Id::k_heads, Id::key, Id::k_proj_weight, Id::bias_k, Id::static_k, "D", "G·D"},
      {Projection::v, Id::v, Id::v_heads, Id::value, Id::v_proj_weight, Id::bias_v, Id::static_v, "Dv",
       "G·Dv"},
  };

  bool is_replaced(const Path& path) const { return path.replacement && t(*path.replacement); }

  // From gated_concat to concat, the gate and what the gate is made of; project_inputs adds query's part.
  void gate() {
    stage(Id::concat, {g_.gated_concat, t_.output_gate},
          [&] { return gated(*g_.gated_concat, *t_.output_gate); });
    stage(Id::output_gate, {g_.gated_concat, t_.concat, t_.output_gate},
          [&] { return gate_gradient(*g_.gated_concat, *t_.concat, *t_.output_gate); });
    linear_parameters(Id::output_gate_weight, Id::output_gate_bias, g_.output_gate, t_.query);
  }

  // Back through dropout and softmax. The weights of frozen heads are constants that bypass both.
  void weights() {
    const std::vector<Index>& frozen = o_.frozen_heads;
    const bool all_frozen = static_cast<Index>(frozen.size()) == sizes_.heads;
    const auto choices_and_heads = [&](std::vector<double> choices) {
      for (const Index head : frozen) choices.push_back(static_cast<double>(head));
      return choices;
    };
    if (o_.dropout == 0.0 || all_frozen) {
      g_.attn_weights = g_.dropped_weights;
    } else {
      stage(
          TensorId::attn_weights, {g_.dropped_weights},
          [&] {
            Tensor gradient = dropout(*g_.dropped_weights, o_.dropout, o_.dropout_seed);
            if (frozen.empty()) return gradient;
            return with_heads_of(std::move(gradient), *g_.dropped_weights, frozen);
          },
          choices_and_heads(seed_choices(o_)));
    }
    if (t_.sinks) {
      stage(
          TensorId::sinks, {g_.attn_weights, t_.attn_weights, t_.sink_weights},
          [&] { return sinks_gradient(*g_.attn_weights, *t_.attn_weights, *t_.sink_weights, frozen); },
          choices_and_heads({}));
    }
    if (all_frozen) {
      stage(TensorId::masked_scores, {}, [&] { return Tensor(t_.masked_scores->shape(), dtype_); });
      return;
    }
    stage(
        TensorId::masked_scores, {g_.attn_weights, t_.attn_weights},
        [&] {
          Tensor gradient = softmax_gradient(*g_.attn_weights, *t_.attn_weights);
          if (frozen.empty()) return gradient;
          return with_zero_heads(std::move(gradient), frozen);
        },
        choices_and_heads({}));
  }

  void mask() {
    // Both are addends of the masked score. Only filled scores pass no gradient.
    g_.scaled_scores = g_.masked_scores;
    if (!t_.mask_bias) return;
    if (o_.mask_value) {
      g_.scaled_scores = nullptr;
      stage(TensorId::scaled_scores, {g_.masked_scores, t_.mask_bias},
            [&] { return mask_scores_gradient(*g_.masked_scores, *t_.mask_bias, o_.mask_value); });
    }
    g_.mask_bias = g_.scaled_scores;
    if (is_float(t_.attn_mask)) {
      stage(TensorId::attn_mask, {g_.mask_bias},
            [&] { return attn_mask_gradient(o_.op, *g_.mask_bias, t_.attn_mask->shape(), sizes_.keys); },
            {static_cast<double>(o_.op)});
    }
    if (is_float(t_.key_padding_mask)) {
      stage(TensorId::key_padding_mask, {g_.mask_bias},
            [&] { return key_padding_mask_gradient(*g_.mask_bias, t_.key_padding_mask->shape()); });
    }
    if (t_.position_bias) relative_bias();
  }

  // position_bias is the same in every batch.
  void relative_bias() {
    stage(Id::position_bias, {g_.mask_bias},
          [&] { return sum_over_batch(*g_.mask_bias, t_.position_bias->shape(), sizes_.keys); });
    const RelativeBias& bias = *o_.relative_bias;
    const Index offset = causal_offset(o_, sizes_.queries, sizes_.keys);
    stage(
        Id::relative_bias_weight, {g_.position_bias},
        [&] {
          return relative_weight_gradient(bias, *g_.position_bias, t_.relative_bias_weight->shape(),
                                          sizes_.keys, offset);
        },
        stage_choices(bias.buckets, bias.max_distance, bias.bidirectional, offset));
  }

  // From q_rotary, q_normed, k_rotary, k_normed, present_key or present_value to what it is made of.
  void back_through(TensorId id, TensorId source) {
    if (id == Id::q_absorbed)
      return stage(
          source, {g_.q_absorbed, t_.kv_b_weight},
          [&] {
            return absorbed_queries_gradient(*g_.q_absorbed, *t_.kv_b_weight, t(source)->shape(), sizes_);
          },
          stage_choices(sizes_.nope, sizes_.v_head_dim));
    if (past_before(id)) return back_through_present(id);
    const bool of_queries = id == Id::q_rotary || id == Id::q_normed;
    const TensorPtr &gradient = g(id), &x = t(source);
    if (id == Id::q_rotary || id == Id::k_rotary) {
      const Rotation rotation = rotation_of(o_);
      const Index first =
          of_queries ? rotary_first_query(o_, sizes_.queries, sizes_.keys) : rotary_first_key(o_);
      std::vector<double> choices = rotation.numbers();
      choices.push_back(static_cast<double>(first));
      return stage(
          source, {gradient}, [&] { return rotary_embedding_gradient(*gradient, rotation, first); },
          std::move(choices));
    }
    const Norm norm = qk_norm_of(o_);
    const std::vector<double> choices = stage_choices(norm.kind, norm.epsilon, norm.offset);
    const TensorId weight_id = of_queries ? Id::q_norm_weight : Id::k_norm_weight;
    const TensorPtr& weight = t(weight_id);
    stage(
        source, {gradient, x, weight}, [&] { return normalised_gradient(*gradient, *x, weight.get(), norm); },
        choices);
    if (weight)
      stage(
          weight_id, {gradient, x},
          [&] { return norm_weight_gradient(*gradient, *x, weight->shape(), norm); }, choices);
  }

  // (N,S,…): without the appended ones
  TensorPtr projected_rows(const Path& path) {
    const TensorPtr& all = g(path.projected);
    if (path.which == Projection::q || sizes_.all_keys == sizes_.keys) return all;
    TensorPtr& rows = projected_rows_[static_cast<std::size_t>(path.which)];
    if (!rows) rows = kept(leading_rows(*all, sizes_.new_keys()));
    return rows;
  }

  LinearRows weight_rows(const Path& path) const {
    return in_projection_rows(path.which, o_, t_.in_proj_weight.get(), t(path.own_weight).get(),
                              t_.in_proj_bias.get());
  }

  Tensor input_gradient(const Path& path) {
    const Shape& x = t(path.input)->shape();
    if (is_replaced(path)) return Tensor(x, dtype_);
    return linear_input_gradient(*projected_rows(path), weight_rows(path), x);
  }

  // One tensor for all three if the parameters are packed, otherwise one each; the bias is always packed.
  void project_parameters() {
    std::vector<TensorPtr> weight_sources, bias_sources;
    for (const Path& path : paths) {
      const bool replaced = is_replaced(path);
      bias_sources.push_back(replaced ? nullptr : g(path.projected));
      weight_sources.insert(weight_sources.end(), {bias_sources.back(), replaced ? nullptr : t(path.input)});
    }
    const auto add_weight = [&](const Path& path, Tensor& gradient) {
      if (!is_replaced(path))
        linear_weight_gradient(*projected_rows(path), *t(path.input), gradient,
                               weight_rows(path).first_weight_row);
    };
    if (t_.in_proj_weight) {
      stage(TensorId::in_proj_weight, weight_sources, [&] {
        Tensor gradient(t_.in_proj_weight->shape(), dtype_);
        for (std::size_t i = 0; i < std::size(paths); ++i) {
          const ProgressPart part = slice_of_work(static_cast<Index>(i), std::ssize(paths));
          add_weight(paths[i], gradient);
        }
        return gradient;
      });
    }
    for (std::size_t i = 0; i < std::size(paths); ++i) {
      const TensorPtr& weight = t(paths[i].own_weight);
      if (!weight) continue;
      stage(paths[i].own_weight, {weight_sources[2 * i], weight_sources[2 * i + 1]}, [&] {
        Tensor gradient(weight->shape(), dtype_);
        add_weight(paths[i], gradient);
        return gradient;
      });
    }
    if (t_.in_proj_bias) {
      stage(TensorId::in_proj_bias, bias_sources, [&] {
        Tensor gradient(t_.in_proj_bias->shape(), dtype_);
        for (const Path& path : paths)
          if (!is_replaced(path))
            linear_bias_gradient(*projected_rows(path), gradient, weight_rows(path).first_bias_entry);
        return gradient;
      });
    }
  }

  // Gradients that arrive along several paths are added up.
  void project_inputs() {
    const bool is_self_attention = t_.key == t_.query && t_.value == t_.query;
    const auto sources_of = [&](const Path& path) -> std::vector<TensorPtr> {
      if (is_replaced(path)) return {nullptr, nullptr};
      return {g(path.projected), t(path.own_weight) ? t(path.own_weight) : t_.in_proj_weight};
    };
    std::vector<TensorPtr> sources = sources_of(paths[0]);
    sources.insert(sources.end(), {g_.residual_output, g_.output_gate, t_.output_gate_weight});
    for (std::size_t i = 1; is_self_attention && i < std::size(paths); ++i)
      for (TensorPtr& source : sources_of(paths[i])) sources.push_back(std::move(source));
    stage(TensorId::query, std::move(sources), [&] {
      const Index count = is_self_attention ? 3 : 1;
      const auto of_path = [&](Index i) {
        const ProgressPart part = slice_of_work(i, count);
        return input_gradient(paths[i]);
      };
      Tensor sum = of_path(0);
      if (g_.residual_output) sum = add_residual(sum, *g_.residual_output);
      if (g_.output_gate)
        sum = add_residual(
            sum, linear_input_gradient(*g_.output_gate, {t_.output_gate_weight.get()}, t_.query->shape()));
      for (Index i = 1; i < count; ++i) sum = add_residual(sum, of_path(i));
      return sum;
    });
    if (is_self_attention) return;
    for (const Path& path : {paths[1], paths[2]})
      stage(path.input, sources_of(path), [&] { return input_gradient(path); });
  }

  std::array<TensorPtr, 3> projected_rows_;  // of q, k, v; computed on first use
};

}  // namespace

TracePtr reference_backward(const Trace& forward, const TensorPtr& grad_output, const Trace* previous) {
  const TensorPtr last = resolved_grad_output(forward, grad_output, previous);
  if (!shares_with(forward, previous)) require_memory(gradient_bytes(forward), "the gradients");
  if (TracePtr trace = rounded_backward(forward, last, previous)) return trace;
  const auto trace = std::make_shared<Trace>(forward);
  trace->grad = TraceTensors{};
  trace->gradient_stages.clear();
  trace->computed_gradients.clear();
  trace->grad.*(tensor_entry(last_output(trace->tensors)).member) = last;
  Backward backward(*trace, previous);
  if (projects(trace->options.op)) {
    backward.add_and_norm();
    backward.merge_and_project();
    backward.scaled_dot_product_attention();
    is_latent(trace->options) ? backward.project_latents() : backward.project();
  } else {
    trace->grad.head_output = trace->grad.output;
    backward.scaled_dot_product_attention();
  }
  return trace;
}

}  // namespace headwise
