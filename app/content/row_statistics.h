// A row of a matrix in a few numbers.
#pragma once

#include <optional>

#include "core/scenario/scenario_inputs.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

// Over the finite values of the row; count of those, and of what is not finite.
struct RowStatistics {
  double min = 0.0, max = 0.0, mean = 0.0;
  double deviation = 0.0;  // √ of the mean squared distance from the mean
  Index finite = 0, not_finite = 0;
};

RowStatistics row_statistics(const Tensor& tensor, const std::vector<Index>& index);

// −Σ p ln p over the row that the index lies in, in nats; none where a value is no probability.
std::optional<double> row_entropy(const Tensor& probabilities, const std::vector<Index>& index);

}  // namespace headwise
