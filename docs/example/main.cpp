// Multi-head attention of a program's own arrays: its weights, where one number comes from, and the fused path.
#include <cstdio>
#include <memory>

#include "core/attention/room.h"
#include "core/files/room.h"
#include "core/fused/room.h"

using namespace headwise;

int main() try {
  // N = 1 batch, L = 3 tokens, E = 4 numbers each; H = 2 heads, each with D = 2 of them.
  const std::vector<double> tokens{1, 0, 2, -1, 0.5, 1, 0, 3, -1, 2, 1, 0};
  std::vector<double> qkv(12 * 4), mixed(4 * 4);  // rows of W_q, W_k and W_v, one below the other; W_o
  for (std::size_t i = 0; i < qkv.size(); ++i) qkv[i] = 0.25 * static_cast<double>(i * 5 % 7) - 0.75;
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = 0.5 * static_cast<double>(i * 3 % 5) - 1;

  AttentionInputs inputs;
  inputs.dtype = DType::f64;
  inputs.options.embed_dim = inputs.options.kdim = inputs.options.vdim = 4;
  inputs.options.num_heads = inputs.options.num_kv_heads = 2;
  inputs.options.head_dim = inputs.options.v_head_dim = 2;
  inputs.options.is_causal = true;
  TraceTensors& given = inputs.tensors;
  given.query = std::make_shared<const Tensor>(Shape{{"N", 1}, {"L", 3}, {"E", 4}}, tokens);
  given.key = given.value = given.query;
  given.in_proj_weight = std::make_shared<const Tensor>(Shape{{"H·D+G·D+G·Dv", 12}, {"E", 4}}, qkv);
  given.out_proj_weight = std::make_shared<const Tensor>(Shape{{"E", 4}, {"H·Dv", 4}}, mixed);

  const TracePtr trace = reference_forward(inputs);
  for (Index query = 0; query < 3; ++query) {
    for (Index key = 0; key < 3; ++key)
      std::printf("%9.6f", trace->tensors.attn_weights->at({0, 1, query, key}));
    std::puts("");
  }
  const CellProvenance cell = cell_provenance(*trace, {TensorId::scores}, {0, 1, 2, 0});
  std::printf("%s = %s\n", cell.formula.c_str(), number_text(cell.value).c_str());
  for (const Term& term : cell.terms)
    std::printf("  d = %d: %s\n", static_cast<int>(term.factors[0].index[3]), number_text(term.value).c_str());
  write_npz("arrays.npz", {{"query", given.query, ""},  // headwise run reads them with --input
                           {"in_proj_weight", given.in_proj_weight, ""},
                           {"out_proj.weight", given.out_proj_weight, ""}});

  inputs.dtype = DType::f32;
  for (TensorPtr* tensor : {&given.query, &given.in_proj_weight, &given.out_proj_weight})
    *tensor = std::make_shared<const Tensor>((*tensor)->converted(DType::f32));
  given.key = given.value = given.query;
  const TracePtr fused = fused_forward(inputs);
  for (Index i = 0; i < fused->tensors.output->size(); ++i)
    std::printf("%.4f ", fused->tensors.output->flat(i));

  inputs.options.num_heads = 3;  // refused: two heads are given
  reference_forward(inputs);
} catch (const Error& error) {
  std::printf("\nrefused with status %d: %s\n", static_cast<int>(error.status()), error.what());
}
