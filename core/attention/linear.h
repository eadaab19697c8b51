// The affine map of the input and the output projection: torch.nn.functional.linear.
#pragma once

#include "core/attention/matrix_product.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Adjacent rows of a weight with their bias: this is how q, k and v are stored in a packed in_proj_weight.
struct LinearRows {
  const Tensor* weight = nullptr;  // (rows ≥ first_weight_row + out_features, in_features)
  Index first_weight_row = 0;
  const Tensor* bias = nullptr;  // (entries ≥ first_bias_entry + out_features); null: none
  Index first_bias_entry = 0;
};

// y[…,o] = Σ_e x[…,e]·weight[first_weight_row + o, e] + bias[first_bias_entry + o]
// x (…, in_features); `out` names the result: the leading axes of x, then out_features. Same type throughout.
Tensor linear(const Tensor& x, const LinearRows& rows, Shape out);

// The same result computed incrementally: only rows whose x has changed, and columns whose weight or bias has
// changed, are computed.
struct EarlierLinear {
  const Tensor& x;
  const LinearRows& rows;
  const Tensor& y;
};
// Like incremental_product, with y as its output; also returns `most` if sizes differ. f64 only.
ProductChange incremental_linear(const Tensor& x, const LinearRows& rows, const EarlierLinear& earlier,
                                 Tensor& y);

// d(loss) of y = x·Wᵀ + b, from d(loss)/d(y).

// dx[…,e] = Σ_o dy[…,o]·weight[first_weight_row + o, e]; `x` is the shape of x, dy (…, out_features).
Tensor linear_input_gradient(const Tensor& grad_y, const LinearRows& rows, const Shape& x);

// dW[first_row + o, e] = Σ_… dy[…,o]·x[…,e], written into those rows of `grad_weight` (the shape of the
// weight).
void linear_weight_gradient(const Tensor& grad_y, const Tensor& x, Tensor& grad_weight, Index first_row);

// db[first_entry + o] = Σ_… dy[…,o], written into those entries of `grad_bias`.
void linear_bias_gradient(const Tensor& grad_y, Tensor& grad_bias, Index first_entry);

}  // namespace headwise
