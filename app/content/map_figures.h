// Numbers taken from one map: a summary of its cells, what the softmax of a row divides by, and its strongest
// pairs.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/export/heatmap.h"

namespace headwise {

// Over the finite values of the cells that the mask leaves open, with the counts of all the others.
struct CellStatistics {
  Index cells = 0, open = 0;  // open: not blocked by the mask
  Index finite = 0;           // of the open ones
  Index nans = 0;             // anywhere: the softmax of a fully masked row is NaN in cells that are blocked
  Index minus_infs = 0, plus_infs = 0;  // of the open ones
  double mean = 0.0, least = 0.0, largest = 0.0;
  double deviation = 0.0;  // √ of the mean squared distance from the mean
  double sum = 0.0;        // of all finite values, blocked ones too: a row of weights adds up with them
  std::pair<Index, Index> place;  // row and column of the largest, the first of equal ones
};

// `mask`: mask_bias at the same cells; a cell is blocked where it is −inf. Empty: none is.
CellStatistics cell_statistics(const MatrixView& values, const std::optional<MatrixView>& mask);

// One row of a matrix, as a matrix.
MatrixView row_of(const MatrixView& matrix, Index row);

// The two numbers between a row of masked_scores and its softmax.
struct SoftmaxFigures {
  TensorPtr maximum;            // (L,1), of the row; −inf where every key is blocked
  std::vector<double> exp_sum;  // Σ exp(x − max) over the row, 1 … S; NaN where every key is blocked
};

// `sink`: one more score in every row; −∞: none.
SoftmaxFigures softmax_figures(const MatrixView& masked_scores, double sink = -HUGE_VAL);

// Which pairs of tokens are joined by a line: as few of the strongest as together hold a share of the
// attention.
struct AttentionLine {
  Index query = 0, key = 0;
  double weight = 0.0;
};

struct AttentionLines {
  std::vector<AttentionLine> lines;  // weakest first, so that the strong ones are drawn over them
  Index left_out = 0;                // weaker lines, dropped because there would be too many
};

// For each query (each key where `per_key`), its strongest pairs until their sum reaches `share` of its
// total. share in (0,1]; weights that are 0 or not finite join nothing. `weights` is (L,S′). If that gives
// more than `most` lines, each query (key) keeps the same number of its strongest, at least one.
AttentionLines attention_lines(const MatrixView& weights, double share, bool per_key, Index most);

}  // namespace headwise
