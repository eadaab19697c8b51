// A row of a matrix summarised in a few numbers.
#pragma once

#include <optional>

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

}  // namespace headwise
