#include "core/attention/backward_stages.h"

#include <utility>

#include "core/attention/add_and_norm.h"
#include "core/attention/heads.h"
#include "core/attention/latent_attention.h"
#include "core/attention/linear.h"
#include "core/attention/norm.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"

namespace headwise {

void BackwardStages::stage(TensorId id, std::vector<TensorPtr> sources, const std::function<Tensor()>& make,
                           std::vector<double> choices) {
  choices.push_back(static_cast<double>(dtype_));
  choices.push_back(static_cast<double>(sizes_.keys));
  for (const Index size : t(id)->shape().sizes()) choices.push_back(static_cast<double>(size));
  cache_.run(id, std::move(sources), make, std::move(choices));
}

void BackwardStages::linear_parameters(TensorId weight, std::optional<TensorId> bias, const TensorPtr& grad_y,
                                       const TensorPtr& x) {
  stage(weight, {grad_y, x}, [&] {
    Tensor gradient(t(weight)->shape(), dtype_);
    linear_weight_gradient(*grad_y, *x, gradient, 0);
    return gradient;
  });
  if (!bias || !t(*bias)) return;
  stage(*bias, {grad_y}, [&] {
    Tensor gradient(t(*bias)->shape(), dtype_);
    linear_bias_gradient(*grad_y, gradient, 0);
    return gradient;
  });
}

void BackwardStages::linear_input(TensorId x, const TensorPtr& grad_y, TensorId weight) {
  stage(x, {grad_y, t(weight)},
        [&] { return linear_input_gradient(*grad_y, {t(weight).get()}, t(x)->shape()); });
}

void BackwardStages::back_through_present(TensorId id) {
  const auto cut = [&](TensorId to, Index first) {
    stage(to, {g(id)}, [&] { return rows_of_present(*g(id), first, t(to)->shape()); },
          {static_cast<double>(first)});
  };
  cut(*past_before(id), 0);
  cut(made_of(id, o_), sizes_.past);
}

void BackwardStages::project_latents() {
  stage(Id::q, {g_.q_heads}, [&] { return merge_heads(*g_.q_heads, nullptr, "H·D"); });
  const bool compressed = o_.q_lora_rank.has_value();
  const Id q_weight = compressed ? Id::q_b_weight : Id::q_proj_weight;
  linear_parameters(q_weight, {}, g_.q, compressed ? t_.compressed_q : t_.query);
  if (compressed) {
    linear_input(Id::compressed_q, g_.q, q_weight);
    latent_norm(Id::compressed_q, Id::q_a, Id::q_a_norm_weight, nullptr);
    linear_parameters(Id::q_a_weight, Id::q_a_bias, g_.q_a, t_.query);
  }
  sizes_.absorbed ? absorbed_latents() : expanded_latents();
  if (o_.past_length)
    for (const CachedTensor& cached : cached_tensors(o_.op)) back_through_present(cached.present);
  latent_norm(Id::compressed_kv, Id::kv_a, Id::kv_a_norm_weight, g_.k_rot);
  linear_parameters(Id::kv_a_weight, Id::kv_a_bias, g_.kv_a, t_.key);

  const bool is_self_attention = t_.key == t_.query;
  const TensorPtr &first = compressed ? g_.q_a : g_.q, &weight = compressed ? t_.q_a_weight : t_.q_proj_weight;
  const TensorPtr of_key = is_self_attention ? g_.kv_a : nullptr;
  stage(Id::query,
        {first, weight, g_.residual_output, g_.output_gate, t_.output_gate_weight, of_key,
         of_key ? t_.kv_a_weight : nullptr},
        [&] {
          const Shape& x = t_.query->shape();
          Tensor sum = linear_input_gradient(*first, {weight.get()}, x);
          if (const TensorPtr& skipped = g_.residual_output) sum = add_residual(sum, *skipped);
          if (g_.output_gate)
            sum = add_residual(sum, linear_input_gradient(*g_.output_gate, {t_.output_gate_weight.get()}, x));
          if (of_key) sum = add_residual(sum, linear_input_gradient(*of_key, {t_.kv_a_weight.get()}, x));
          return sum;
        });
  if (!is_self_attention) linear_input(Id::key, g_.kv_a, Id::kv_a_weight);
}

void BackwardStages::expanded_latents() {
  stage(Id::kv_b, {g_.k_heads, g_.v_heads},
        [&] { return expanded_gradient(*g_.k_heads, *g_.v_heads, t_.kv_b->shape()); });
  const Id latents = latents_of_heads(o_), k_rot = rotated_keys_of_heads(o_);
  stage(k_rot, {g_.k_heads}, [&] { return shared_key_gradient(*g_.k_heads, t(k_rot)->shape()); });
  linear_parameters(Id::kv_b_weight, {}, g_.kv_b, t(latents));
  linear_input(latents, g_.kv_b, Id::kv_b_weight);
}

void BackwardStages::absorbed_latents() {
  const Id latents = latents_of_heads(o_), k_rot = rotated_keys_of_heads(o_);
  stage(
      k_rot, {g_.k_absorbed}, [&] { return columns_of(*g_.k_absorbed, sizes_.latent, t(k_rot)->shape()); },
      stage_choices(sizes_.latent));
  stage(latents, {g_.k_absorbed, g_.latent_output, t_.dropped_weights}, [&] {
    const Shape& shape = t(latents)->shape();
    const Shape one_head = as_one_head(*t(latents)).shape();
    const Tensor of_sum = weighted_sum_values_gradient(*g_.latent_output, *t_.dropped_weights, one_head);
    return add_residual(columns_of(*g_.k_absorbed, 0, shape), of_sum.reshaped(shape));
  });
  const TensorPtr& q = t(made_of(Id::q_absorbed, o_));
  stage(Id::kv_b_weight, {q, g_.q_absorbed, t_.latent_output, g_.head_output}, [&] {
    return absorbed_weight_gradient(*q, *g_.q_absorbed, *t_.latent_output, *g_.head_output,
                                    t_.kv_b_weight->shape(), sizes_);
  });
}

void BackwardStages::latent_norm(TensorId normed, TensorId source, TensorId weight,
                                 const TensorPtr& grad_rotated) {
  const Norm norm = latent_norm_of(o_);
  const Rotation rotation = rotation_of_keys(o_);
  const Index first = rotary_first_key(o_);
  std::vector<double> choices = rotation.numbers();
  choices.insert(choices.end(), {norm.epsilon, static_cast<double>(first)});
  const auto own_columns = [&] { return columns_of(*t(source), 0, t(normed)->shape()); };
  stage(
      source, {g(normed), t(source), t(weight), grad_rotated},
      [&] {
        Tensor gradient = normalised_gradient(*g(normed), own_columns(), t(weight).get(), norm);
        if (!grad_rotated) return gradient;
        const Tensor others =
            rotation ? rotary_embedding_gradient(*grad_rotated, rotation, first) : *grad_rotated;
        return side_by_side(gradient, others, t(source)->shape());
      },
      choices);
  if (t(weight))
    stage(
        weight, {g(normed), t(source)},
        [&] { return norm_weight_gradient(*g(normed), own_columns(), t(weight)->shape(), norm); },
        stage_choices(norm.epsilon));
}

}  // namespace headwise
