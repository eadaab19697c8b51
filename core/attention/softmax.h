// The softmax over keys, and what becomes of a row in which every key is blocked.
#pragma once

#include <vector>

#include "core/attention/attention_options.h"
#include "core/tensor/tensor.h"

namespace headwise {

// weights[…,s] = exp(x[…,s] − max_s x) / Σ_s exp(x[…,s] − max_s x) over the last axis.
// A row that holds NaN or +inf becomes NaN. A row of nothing but -inf becomes NaN or zeros, as `fully_masked`
// says.
Tensor softmax(const Tensor& masked_scores, FullyMaskedRows fully_masked);

// Rows (all axes but the last, counted flat) whose every cell is -inf; a row without cells is none of them.
std::vector<Index> fully_masked_rows(const Tensor& masked_scores);

}  // namespace headwise
