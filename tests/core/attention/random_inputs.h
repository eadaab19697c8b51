// Inputs for tests: every array filled with seeded normal numbers, shapes from the options.
#pragma once

#include <memory>
#include <string>

#include "core/attention/trace.h"
#include "core/tensor/random.h"

namespace headwise::test {

inline TensorPtr random_tensor(Shape shape, const std::string& name, DType dtype = DType::f64,
                               double deviation = 1.0) {
  Tensor tensor(std::move(shape), dtype);
  const CounterRandom random(7, name);
  for (Index i = 0; i < tensor.size(); ++i)
    tensor.set_flat(i, deviation * random.normal(static_cast<std::uint64_t>(i)));
  return std::make_shared<const Tensor>(std::move(tensor));
}

inline TensorPtr zeros(Shape shape, DType dtype) {
  return std::make_shared<const Tensor>(std::move(shape), dtype);
}

struct Lengths {
  Index batch = 2;    // N
  Index queries = 4;  // L
  Index keys = 6;     // S
};

inline AttentionOptions small_options(Index heads = 4, Index kv_heads = 4, Index head_dim = 3) {
  AttentionOptions options;
  options.num_heads = heads;
  options.num_kv_heads = kv_heads;
  options.head_dim = options.v_head_dim = head_dim;
  options.embed_dim = options.kdim = options.vdim = heads * head_dim;
  return options;
}

// Packed parameters with biases; key and value are arrays of their own.
inline AttentionInputs random_inputs(const AttentionOptions& o, Lengths n = {}, DType dtype = DType::f64) {
  AttentionInputs inputs;
  inputs.options = o;
  inputs.dtype = dtype;
  const Axis rows{"H·D+G·D+G·Dv", o.num_heads * o.head_dim + o.num_kv_heads * (o.head_dim + o.v_head_dim)};
  TraceTensors& t = inputs.tensors;
  t.query = random_tensor({{"N", n.batch}, {"L", n.queries}, {"E", o.embed_dim}}, "query", dtype);
  t.key = random_tensor({{"N", n.batch}, {"S", n.keys}, {"kdim", o.kdim}}, "key", dtype);
  t.value = random_tensor({{"N", n.batch}, {"S", n.keys}, {"vdim", o.vdim}}, "value", dtype);
  t.in_proj_weight = random_tensor({rows, {"E", o.embed_dim}}, "in_proj_weight", dtype, 0.3);
  t.in_proj_bias = random_tensor({rows}, "in_proj_bias", dtype, 0.3);
  t.out_proj_weight =
      random_tensor({{"E", o.embed_dim}, {"H·Dv", o.num_heads * o.v_head_dim}}, "out_proj.weight", dtype, 0.3);
  t.out_proj_bias = random_tensor({{"E", o.embed_dim}}, "out_proj.bias", dtype, 0.3);
  return inputs;
}

}  // namespace headwise::test
