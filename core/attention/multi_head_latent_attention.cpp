// The stages of multi-head latent attention that are unlike those of multi_head_attention.cpp: from query and
// key to the factors of the scores, and behind the weighted sum of the absorbed layout.
#include "core/attention/heads.h"
#include "core/attention/latent_attention.h"
#include "core/attention/multi_head_attention.h"
#include "core/attention/norm.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"

namespace headwise {
namespace {

using Id = TensorId;

struct LatentStages {
  ForwardPass& pass;
  const TraceTensors& t = pass.tensors;
  const AttentionOptions& options = pass.options;
  const AttentionSizes& s = pass.sizes;

  Shape shape(Id id) const { return computed_shape(id, options, s); }

  // x·Wᵀ + b
  void linear(Id id, const TensorPtr& x, const TensorPtr& weight, const TensorPtr& bias) const {
    pass.stages.run(id, {x, weight, bias}, [&] {
      return pass.linear(*x, {weight.get(), 0, bias.get(), 0}, shape(id));
    });
  }

  // The first columns of x, as many as there are in the result, normalised.
  void normalise(Id id, const TensorPtr& x, const TensorPtr& weight) const {
    const Norm norm = latent_norm_of(options);
    pass.stages.run(
        id, {x, weight}, [&] { return normalised(columns_of(*x, 0, shape(id)), weight.get(), norm); },
        stage_choices(norm.epsilon, s.latent));
  }

  std::vector<double> rotary_choices(const Rotation& rotation, Index first_position) const {
    std::vector<double> choices = rotation.numbers();
    for (const Index choice : {s.latent, first_position}) choices.push_back(static_cast<double>(choice));
    return choices;
  }

  void queries() const {
    // q_a = query·W_DQᵀ + b                                          (N,L,E) → (N,L,Cq)
    // compressed_q = RMSNorm(q_a) ⊙ weight
    // q = compressed_q·W_UQᵀ, or query·W_qᵀ                          (N,L,H·D), D = Dn + R
    if (options.q_lora_rank) {
      linear(Id::q_a, t.query, t.q_a_weight, t.q_a_bias);
      normalise(Id::compressed_q, t.q_a, t.q_a_norm_weight);
      linear(Id::q, t.compressed_q, t.q_b_weight, nullptr);
    } else {
      pass.stages.none(Id::q_a, t.query);
      pass.stages.none(Id::compressed_q, t.query);
      linear(Id::q, t.query, t.q_proj_weight, nullptr);
    }
  }

  void latents() const {
    // kv_a = key·W_DKVᵀ + b                                          (N,S,kdim) → (N,S,C+R)
    // compressed_kv = RMSNorm(kv_a[…, :C]) ⊙ weight                  (N,S,C)
    // k_rot = kv_a[…, C:], rotated by its position                   (N,1,S,R)
    // and both after the past, which is a cache of them              (N,S′,C), (N,1,S′,R)
    linear(Id::kv_a, t.key, t.kv_a_weight, t.kv_a_bias);
    normalise(Id::compressed_kv, t.kv_a, t.kv_a_norm_weight);
    const Rotation rotation = rotation_of_keys(options);
    const Index first = rotary_first_key(options);
    pass.stages.run(
        Id::k_rot, {t.kv_a},
        [&] {
          Tensor columns = columns_of(*t.kv_a, s.latent, shape(Id::k_rot));
          return rotation ? rotary_embedding(columns, rotation, first) : columns;
        },
        rotary_choices(rotation, first));
    append_to_past(pass);
  }

  const TensorPtr& cached() const { return t.*(tensor_entry(latents_of_heads(options)).member); }
  const TensorPtr& cached_rotated() const { return t.*(tensor_entry(rotated_keys_of_heads(options)).member); }

  void split_queries() const {
    // Head h takes columns [h·D, (h+1)·D); its last R columns are rotated by the query's position.
    pass.stages.run(
        Id::q_heads, {t.q}, [&] { return split_heads(*t.q, s.heads, "H", "D"); }, stage_choices(s.heads));
    const Rotation rotation = rotation_of(options);
    if (!rotation) return pass.stages.none(Id::q_rotary, t.q_heads);
    const Index first = rotary_first_query(options, s.queries, s.keys);
    pass.stages.run(
        Id::q_rotary, {t.q_heads}, [&] { return rotary_embedding(*t.q_heads, rotation, first); },
        rotary_choices(rotation, first));
  }

  void expand() const {
    // kv_b = latents·W_UKVᵀ                                          (N,S′,H·(Dn+Dv))
    // k_heads = [of kv_b the head's first Dn columns ; k_rot]        (N,H,S′,D)
    // v_heads = of kv_b the head's other Dv columns                  (N,H,S′,Dv)
    linear(Id::kv_b, cached(), t.kv_b_weight, nullptr);
    const TensorPtr& k_rot = cached_rotated();
    pass.stages.run(
        Id::k_heads, {t.kv_b, k_rot},
        [&] { return expanded_keys(*t.kv_b, *k_rot, shape(Id::k_heads), s.v_head_dim); },
        stage_choices(s.heads, s.nope, s.v_head_dim));
    pass.stages.run(
        Id::v_heads, {t.kv_b}, [&] { return expanded_values(*t.kv_b, shape(Id::v_heads)); },
        stage_choices(s.heads, s.nope, s.v_head_dim));
    pass.stages.none(Id::q_absorbed, t.q_heads);
    pass.stages.none(Id::k_absorbed, t.k_heads);
  }

  void absorb() const {
    // q_absorbed = [q·W_UK of the head ; q rotated]                  (N,H,L,C+R)
    // k_absorbed = [latents ; k_rot], one for all heads              (N,1,S′,C+R)
    const TensorPtr &latents = cached(), &k_rot = cached_rotated();
    for (const Id id : {Id::kv_b, Id::k_heads, Id::v_heads}) pass.stages.none(id, latents);
    const TensorPtr& q = t.q_rotary ? t.q_rotary : t.q_heads;
    pass.stages.run(
        Id::q_absorbed, {q, t.kv_b_weight}, [&] { return absorbed_queries(*q, *t.kv_b_weight, s); },
        stage_choices(s.nope, s.v_head_dim));
    pass.stages.run(Id::k_absorbed, {latents, k_rot},
                    [&] { return side_by_side(*latents, *k_rot, shape(Id::k_absorbed)); });
  }
};

}  // namespace

void project_latents(ForwardPass& pass) {
  const LatentStages stages{pass};
  stages.queries();
  for (const Id id : {Id::k, Id::v}) pass.stages.none(id, pass.tensors.key);
  stages.latents();
  stages.split_queries();
  is_absorbed(pass.options) ? stages.absorb() : stages.expand();
}

// head_output = latent_output·W_UVᵀ of the head                      (N,H,L,C) → (N,H,L,Dv)
void expand_latent_output(ForwardPass& pass) {
  const TraceTensors& t = pass.tensors;
  const AttentionSizes& s = pass.sizes;
  if (!s.absorbed) return;
  pass.stages.run(
      Id::head_output, {t.latent_output, t.kv_b_weight},
      [&] { return values_of_latents(*t.latent_output, *t.kv_b_weight, s); },
      stage_choices(s.nope, s.v_head_dim));
}

}  // namespace headwise
