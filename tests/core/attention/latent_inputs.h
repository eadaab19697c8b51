// Inputs of multi_head_latent_attention for tests.
#pragma once

#include <initializer_list>
#include <string>

#include "core/attention/attention_sizes.h"
#include "tests/core/attention/random_inputs.h"

namespace headwise::test {

inline AttentionOptions latent_options(LatentLayout layout, Index heads = 4) {
  AttentionOptions o;
  o.op = Op::multi_head_latent_attention;
  o.layout = layout;
  o.num_heads = heads;
  o.embed_dim = o.kdim = o.vdim = 8;
  o.kv_lora_rank = 5;
  o.qk_nope_head_dim = 3;
  o.qk_rope_head_dim = 2;
  o.v_head_dim = 3;
  o.head_dim = 5;
  o.num_kv_heads = layout == LatentLayout::absorbed ? 1 : heads;
  return o;
}

// Every parameter, with biases and norms; the same numbers in both layouts.
inline AttentionInputs latent_inputs(const AttentionOptions& o, Lengths n = {2, 3, 4},
                                     DType dtype = DType::f64) {
  AttentionInputs inputs;
  inputs.options = o;
  inputs.dtype = dtype;
  TraceTensors& t = inputs.tensors;
  t.query = random_tensor({{"N", n.batch}, {"L", n.queries}, {"E", o.embed_dim}}, "query", dtype);
  t.key = random_tensor({{"N", n.batch}, {"S", n.keys}, {"kdim", o.kdim}}, "key", dtype);
  const AttentionSizes sizes = attention_sizes(inputs);
  const auto make = [&](std::initializer_list<TensorId> ids) {
    for (const TensorId id : ids) {
      const TensorEntry& entry = tensor_entry(id);
      t.*(entry.member) = random_tensor(computed_shape(id, o, sizes), std::string(entry.name), dtype, 0.5);
    }
  };
  using Id = TensorId;
  make({Id::kv_a_weight, Id::kv_a_bias, Id::kv_a_norm_weight, Id::kv_b_weight, Id::out_proj_weight,
        Id::out_proj_bias});
  if (o.q_lora_rank)
    make({Id::q_a_weight, Id::q_a_bias, Id::q_a_norm_weight, Id::q_b_weight});
  else
    make({Id::q_proj_weight});
  return inputs;
}

}  // namespace headwise::test
