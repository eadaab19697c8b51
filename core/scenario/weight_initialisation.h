// Random parameters, distributed as in torch.nn.MultiheadAttention's reset_parameters and other common
// layers, from counter-based numbers: the same seed gives the same numbers in every layout of the projection.
//
//   init            in_proj_weight (or q, k, v)            out_proj.weight              bias_k, bias_v
//   xavier_uniform  U(±√(6/(fan_in+fan_out)))              U(±1/√fan_in), as nn.Linear  N(0, 1/√width)
//   xavier_normal   N(0, √(2/(fan_in+fan_out)))            the same                     the same
//   normal_dk       N(0, √(2/(fan_in+D))), for v with Dv   xavier_normal                the same
//   uniform01       U[0,1)                                 U[0,1)                       U[0,1)
//   identity        1 where row = column, else 0           the same                     0
//
// As in PyTorch, the fans are those of the packed matrix (3E,E) if kdim = vdim = E, whatever the layout, and
// otherwise those of each matrix. in_proj_bias and out_proj.bias are zeros.
#pragma once

#include <cstdint>

#include "core/attention/attention_options.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/in_projection.h"
#include "core/scenario/scenario.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Rows of the three projections: H·D, G·D and G·Dv. Throws Error(memory) on overflow.
struct ProjectionRows {
  Index q = 0, k = 0, v = 0;
};
ProjectionRows projection_rows(const AttentionOptions& options);

// (H·D,E), (G·D,kdim) or (G·Dv,vdim): if kdim = vdim = E, rows of the packed matrix.
Tensor random_projection_weight(Projection which, const AttentionOptions& options, Initialisation init,
                                std::uint64_t seed, DType dtype);
// A matrix of multi_head_latent_attention, each a linear layer of its own: its fans are its sizes, and D
// those of a head's rows of kv_b_proj.weight or of its queries; else the rows themselves.
Tensor random_latent_weight(TensorId id, const AttentionOptions& options, const AttentionSizes& sizes,
                            Initialisation init, std::uint64_t seed, DType dtype);
// The gate's rows, like those of another linear layer of query: "output_gate.weight" (H·Dv,E).
Tensor random_gate_weight(const AttentionOptions& options, Initialisation init, std::uint64_t seed,
                          DType dtype);
Tensor random_out_weight(const AttentionOptions& options, Initialisation init, std::uint64_t seed,
                         DType dtype);  // (E,H·Dv)
// (buckets,H), of deviation 1: "relative_attention_bias.weight".
Tensor random_relative_weight(const AttentionOptions& options, std::uint64_t seed, DType dtype);
// "indexer.wq_b.weight" and its like, of `shape` (out,in).
Tensor random_indexer_weight(const char* name, const Shape& shape, Index width, Initialisation init,
                             std::uint64_t seed, DType dtype);
// (G·D) and (G·Dv): the rows that add_bias_kv appends.
Tensor random_bias_k(const AttentionOptions& options, Initialisation init, std::uint64_t seed, DType dtype);
Tensor random_bias_v(const AttentionOptions& options, Initialisation init, std::uint64_t seed, DType dtype);

}  // namespace headwise
