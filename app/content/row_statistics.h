// A whole map, or one row of it, summarised in a few numbers.
#pragma once

#include <optional>
#include <utility>

#include "core/picture/heatmap.h"

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

}  // namespace headwise
