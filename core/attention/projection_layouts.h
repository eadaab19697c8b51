// Three layouts of the same input projection: one packed matrix, three matrices, or one small matrix per
// head. They are views of the same numbers, because head h owns D adjacent rows of W_q: rows [h·D, (h+1)·D).
// Sources: torch.nn.MultiheadAttention (packed if kdim = vdim = embed_dim, else separate); "Attention Is All
// You Need", 3.2.2 (W_i^Q, W_i^K, W_i^V for each head i).
#pragma once

#include <vector>

#include "core/attention/in_projection.h"

namespace headwise {

// The parameters as stored in a trace: packed (in_proj_weight), or separate, where k_proj_weight may be
// missing if there is a static_k, and v_proj_weight if there is a static_v. in_proj_bias (H·D+G·D+G·Dv), or
// null, is packed either way.
struct ProjectionParameters {
  TensorPtr in_proj_weight;  // (H·D+G·D+G·Dv,E)
  TensorPtr q_proj_weight;   // (H·D,E)
  TensorPtr k_proj_weight;   // (G·D,kdim)
  TensorPtr v_proj_weight;   // (G·Dv,vdim)
  TensorPtr in_proj_bias;
};

// One matrix of a layout with its bias: a view of rows of the parameters, in place.
struct ProjectionMatrix {
  Projection of = Projection::q;  // of the first row
  Index head = -1;                // per_head: which query head (q) or key/value head (k, v); else −1
  LinearRows rows;                // out_features begin at rows.first_weight_row
  Index out_features = 0;         // H·D+G·D+G·Dv; H·D, G·D or G·Dv; D or Dv
  Index in_features = 0;          // E, kdim or vdim
  TensorPtr weight;               // what rows.weight points to, kept alive
  TensorPtr bias;                 // likewise; may be null
};

// W_q, W_k and W_v can only be packed into one matrix if all three are present and as wide as the query.
bool can_be_packed(const AttentionOptions& options, const ProjectionParameters& parameters);

// The matrices of a layout in the order q, k, v, heads ascending: 1, 3 or H+2·G of them; a missing W_k or W_v
// is left out. Nothing is copied, except that separate parameters are stacked once to be packed. Throws
// Error(usage) if they cannot be packed.
std::vector<ProjectionMatrix> projection_matrices(ProjectionLayout layout, const AttentionOptions& options,
                                                  const ProjectionParameters& parameters);

// The rows of q, k and v stacked vertically: in_proj_weight (H·D+G·D+G·Dv, E). All three have width E.
Tensor packed_projections(const Tensor& q, const Tensor& k, const Tensor& v);

struct ProjectionInputs {
  TensorPtr query, key, value;  // (N,L,E) (N,S,kdim) (N,S,vdim); one pointer if they are one array
  bool project_k = true;        // false with static_k, which replaces the projected k
  bool project_v = true;
};

struct ProjectedInputs {
  TensorPtr q, k, v;   // (N,L,H·D) (N,S,G·D) (N,S,G·Dv); null if not requested
  Index products = 0;  // number of matrix products computed
};

// 'nle,fe->nlf' with the matrices of a layout, using as many products as it takes: packed, one for adjacent
// rows that read the same array (self-attention: one; key is value: two; else three); separate, one each;
// per_head, one per head, written into the columns of that head.
ProjectedInputs project_with(const AttentionOptions& options, const std::vector<ProjectionMatrix>& matrices,
                             const ProjectionInputs& inputs);

}  // namespace headwise
