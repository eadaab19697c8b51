// The three input projections and the layout of their parameters (core/attention/projection_layouts.h
// converts between the layouts).
#pragma once

#include "core/attention/attention_options.h"
#include "core/attention/linear.h"
#include "core/tensor/tensor.h"

namespace headwise {

enum class Projection { q, k, v };

// One matrix, three matrices, or one per head of q, k and v.
enum class ProjectionLayout { packed, separate, per_head };

// From query, key and value to q, k and v: the input projection of F.multi_head_attention_forward, and the
// rows that it appends to k and v. Axis letters: core/tensor/shape.h.

// Where W_q, W_k or W_v is stored. Packed: `in_proj_weight` (H·D+G·D+G·Dv,E) holds all three, in that order.
// Separate: `own_weight` is the matrix itself. `in_proj_bias` (H·D+G·D+G·Dv), or null, is packed either way.
LinearRows in_projection_rows(Projection which, const AttentionOptions& options, const Tensor* in_proj_weight,
                              const Tensor* own_weight, const Tensor* in_proj_bias);

// k or v (N,S,W) with one or two key positions appended: first bias_row (W), the same for every batch, then a
// row of zeros. `bias_row` may be null. The result is (N,S′,W).
Tensor append_rows(const Tensor& rows, const Tensor* bias_row, bool zero_row);

// d(loss) of the rows appended to k and v.

// d bias_row[c] = Σ_n d rows[n,first_appended,c]; rows (N,S′,W), bias_row's shape (W).
Tensor bias_row_gradient(const Tensor& grad_rows, Index first_appended, const Shape& bias_row);

// The first `count` rows of each batch: (N,S′,W) → (N,S,W), the gradient of the rows that were not appended.
Tensor leading_rows(const Tensor& grad_rows, Index count);

}  // namespace headwise
