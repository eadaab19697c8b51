// Norms of rows, over the last axis of a tensor: torch.nn.RMSNorm, torch.nn.LayerNorm without a bias, and
// division by the row's length (F.normalize, but for where ε stands).
#pragma once

#include "core/attention/attention_options.h"
#include "core/attention/tensor_names.h"
#include "core/tensor/eigen_maps.h"

namespace headwise {

// y = (offset + weight) ∘ x̂ with x̂ = (x − mean)/deviation, over rows of W numbers:
//   rms    mean 0,            deviation √(Σx²/W + ε)         "Root Mean Square Layer Normalization" (2019)
//   layer  mean Σx/W,         deviation √(Σ(x − mean)²/W + ε)
//   l2     mean 0,            deviation √(Σx² + ε)
// Without weights y is x̂.
struct Norm {
  NormKind kind = NormKind::layer;
  double epsilon = 1e-5;  // PyTorch's default of LayerNorm
  double offset = 0.0;
};

// What the option qk_norm asks for.
inline Norm qk_norm_of(const AttentionOptions& o) {
  return {o.qk_norm_kind, o.qk_norm_epsilon, o.qk_norm_offset};
}

// That of the latents of multi_head_latent_attention.
inline Norm latent_norm_of(const AttentionOptions& o) {
  return {NormKind::rms, o.latent_norm_epsilon, 0.0};
}

// The norm that a tensor, its gradient or its weight goes through.
Norm norm_of(const AttentionOptions& options, TensorId id);

// The deviation as formulas write it: "√(variance + ε)".
const char* deviation_name(NormKind kind);

struct RowNorm {
  double mean, deviation;
};
RowNorm row_norm(const WideRow& row, const Norm& norm);

// `weight`, or null: (W) for all rows alike, or (H,W), a row for each head of x (N,H,T,W).
Tensor normalised(const Tensor& x, const Tensor* weight, const Norm& norm);

// d(loss)/dx from d(loss)/dy. With dx̂ = (offset + weight) ∘ dy:
//   dx = (dx̂ − [layer: mean of dx̂] − x̂ · mean of dx̂∘x̂) / deviation; for l2 the last mean is a sum.
Tensor normalised_gradient(const Tensor& grad_y, const Tensor& x, const Tensor* weight, const Norm& norm);

// d(loss)/d(weight), the sum of dy ∘ x̂ over all rows that have the weight; `weight` is its shape.
Tensor norm_weight_gradient(const Tensor& grad_y, const Tensor& x, const Shape& weight, const Norm& norm);

}  // namespace headwise
