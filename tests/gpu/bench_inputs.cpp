#include "tests/gpu/bench_inputs.h"

#include <cmath>
#include <cstdint>
#include <memory>

namespace headwise::gpu_bench {
namespace {

// Evenly distributed in [−scale, scale); the counter-based normal numbers of core take ten times as long.
TensorPtr filled(Shape shape, std::uint32_t seed, float scale) {
  Tensor tensor = Tensor::unwritten(std::move(shape), DType::f32);
  std::uint32_t state = seed * 2654435761U + 1;
  for (float& number : tensor.values<float>()) {
    state = state * 1664525U + 1013904223U;
    number = scale * (static_cast<float>(state >> 8) * 0x1p-23f - 1.0f);
  }
  return std::make_shared<const Tensor>(std::move(tensor));
}

}  // namespace

AttentionInputs layer_inputs(Index embed_dim, Index num_heads, Index length, bool causal) {
  AttentionInputs inputs;
  AttentionOptions& o = inputs.options;
  o.embed_dim = o.kdim = o.vdim = embed_dim;
  o.num_heads = o.num_kv_heads = num_heads;
  o.head_dim = o.v_head_dim = embed_dim / num_heads;
  o.is_causal = causal;
  o.need_weights = false;
  const float weight = std::sqrt(3.0f / static_cast<float>(embed_dim));
  TraceTensors& t = inputs.tensors;
  t.query = t.key = t.value = filled({{"N", 1}, {"L", length}, {"E", embed_dim}}, 1, 1.7f);
  t.key = std::make_shared<const Tensor>(t.query->reshaped({{"N", 1}, {"S", length}, {"kdim", embed_dim}}));
  t.value = std::make_shared<const Tensor>(t.query->reshaped({{"N", 1}, {"S", length}, {"vdim", embed_dim}}));
  const Axis rows{"H·D+G·D+G·Dv", 3 * embed_dim};
  t.in_proj_weight = filled({rows, {"E", embed_dim}}, 2, weight);
  t.in_proj_bias = filled({rows}, 3, 0.1f);
  t.out_proj_weight = filled({{"E", embed_dim}, {"H·Dv", embed_dim}}, 4, weight);
  t.out_proj_bias = filled({{"E", embed_dim}}, 5, 0.1f);
  return inputs;
}

AttentionInputs attention_inputs(Index num_heads, Index queries, Index keys, Index head_dim, bool causal,
                                 Index window) {
  AttentionInputs inputs;
  inputs.options.op = Op::scaled_dot_product_attention;
  inputs.options.is_causal = causal;
  inputs.options.need_weights = false;
  if (window > 0) inputs.options.sliding_window = window;
  inputs.tensors.query = filled({{"N", 1}, {"H", num_heads}, {"L", queries}, {"D", head_dim}}, 6, 1.7f);
  inputs.tensors.key = filled({{"N", 1}, {"G", num_heads}, {"S", keys}, {"D", head_dim}}, 7, 1.7f);
  inputs.tensors.value = filled({{"N", 1}, {"G", num_heads}, {"S", keys}, {"Dv", head_dim}}, 8, 1.7f);
  return inputs;
}

}  // namespace headwise::gpu_bench
