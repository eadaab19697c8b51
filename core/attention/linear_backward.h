// d(loss) of y = x·Wᵀ + b, from d(loss)/d(y).
#pragma once

#include "core/attention/linear.h"

namespace headwise {

// dx[…,e] = Σ_o dy[…,o]·weight[first_weight_row + o, e]; `x` is the shape of x, dy (…, out_features).
Tensor linear_input_gradient(const Tensor& grad_y, const LinearRows& rows, const Shape& x);

// dW[first_row + o, e] = Σ_… dy[…,o]·x[…,e], written into those rows of `grad_weight` (the shape of the
// weight).
void linear_weight_gradient(const Tensor& grad_y, const Tensor& x, Tensor& grad_weight, Index first_row);

// db[first_entry + o] = Σ_… dy[…,o], written into those entries of `grad_bias`.
void linear_bias_gradient(const Tensor& grad_y, Tensor& grad_bias, Index first_entry);

}  // namespace headwise
