// A row of a matrix, and a whole map, summarised in a few numbers.
#pragma once

#include <optional>
#include <utility>

#include "core/picture/heatmap.h"
#include "core/scenario/scenario_inputs.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

// Over the finite values of the row, with the counts of finite and non-finite values.
struct RowStatistics {
  double min = 0.0, max = 0.0, mean = 0.0;
  double deviation = 0.0;  // √ of the mean squared distance from the mean
  Index finite = 0, not_finite = 0;
};

RowStatistics row_statistics(const Tensor& tensor, const std::vector<Index>& index);

// −Σ p ln p over the row that contains the index, in nats; none if a value is not a probability.
std::optional<double> row_entropy(const Tensor& probabilities, const std::vector<Index>& index);

// Over the finite values of the cells that the mask leaves open, with the counts of all the others.
struct MapStatistics {
  Index cells = 0, open = 0;  // open: not blocked by the mask
  Index finite = 0;           // of the open ones
  Index nans = 0;             // anywhere: the softmax of a fully masked row is NaN in cells that are blocked
  Index minus_infs = 0, plus_infs = 0;  // of the open ones
  double mean = 0.0, deviation = 0.0, largest = 0.0;
  std::pair<Index, Index> place;  // row and column of the largest, the first of equal ones
};

// `mask`: mask_bias at the same cells; a cell is blocked where it is −inf. Empty: none is.
MapStatistics map_statistics(const MatrixView& values, const std::optional<MatrixView>& mask);

}  // namespace headwise
