// The softmax over keys, and its result for a row in which every key is blocked.
#pragma once

#include <vector>

#include "core/attention/attention_options.h"
#include "core/tensor/tensor.h"

namespace headwise {

// weights[…,s] = exp(x[…,s] − max_s x) / Σ_s exp(x[…,s] − max_s x) over the last axis.
// A row that contains NaN or +inf becomes NaN. A row of -inf only becomes NaN or zeros, as `fully_masked`
// says.
Tensor softmax(const Tensor& masked_scores, FullyMaskedRows fully_masked);

// Rows (all axes but the last, flat index) in which every cell is -inf; a row without cells is not one of them.
std::vector<Index> fully_masked_rows(const Tensor& masked_scores);

}  // namespace headwise
