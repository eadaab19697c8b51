// d(loss) of the rows appended to k and v.
#pragma once

#include "core/tensor/tensor.h"

namespace headwise {

// d bias_row[c] = Σ_n d rows[n,first_appended,c]; rows (N,S′,W), bias_row's shape (W).
Tensor bias_row_gradient(const Tensor& grad_rows, Index first_appended, const Shape& bias_row);

// The first `count` rows of each batch: (N,S′,W) → (N,S,W), the gradient of the rows that were not appended.
Tensor leading_rows(const Tensor& grad_rows, Index count);

}  // namespace headwise
