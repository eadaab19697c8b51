// The two numbers between a row of masked_scores and its softmax.
#pragma once

#include <vector>

#include "core/picture/heatmap.h"

namespace headwise {

struct SoftmaxFigures {
  TensorPtr maximum;            // (L,1), of the row; −inf where every key is blocked
  std::vector<double> exp_sum;  // Σ exp(x − max) over the row, 1 … S; NaN where every key is blocked
};

SoftmaxFigures softmax_figures(const MatrixView& masked_scores);

}  // namespace headwise
