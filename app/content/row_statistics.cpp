#include "app/content/row_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headwise {
namespace {

struct Row {
  Index begin = 0, count = 0;  // flat
};

Row row_of(const Tensor& tensor, std::vector<Index> index) {
  if (index.empty()) return {0, 1};
  index.back() = 0;
  return {tensor.shape().offset(index), tensor.shape().size(tensor.shape().rank() - 1)};
}

}  // namespace

RowStatistics row_statistics(const Tensor& tensor, const std::vector<Index>& index) {
  RowStatistics row;
  const Row cells = row_of(tensor, index);
  double sum = 0.0;
  for (Index i = 0; i < cells.count; ++i) {
    const double value = tensor.flat(cells.begin + i);
    if (!std::isfinite(value)) {
      ++row.not_finite;
      continue;
    }
    row.min = row.finite == 0 ? value : std::min(row.min, value);
    row.max = row.finite == 0 ? value : std::max(row.max, value);
    sum += value;
    ++row.finite;
  }
  if (row.finite == 0) return row;
  row.mean = sum / static_cast<double>(row.finite);
  double squares = 0.0;
  for (Index i = 0; i < cells.count; ++i) {
    const double value = tensor.flat(cells.begin + i);
    if (std::isfinite(value)) squares += (value - row.mean) * (value - row.mean);
  }
  row.deviation = std::sqrt(squares / static_cast<double>(row.finite));
  return row;
}

std::optional<double> row_entropy(const Tensor& probabilities, const std::vector<Index>& index) {
  const Row cells = row_of(probabilities, index);
  double entropy = 0.0;
  for (Index i = 0; i < cells.count; ++i) {
    const double p = probabilities.flat(cells.begin + i);
    if (!(p >= 0.0 && p <= 1.0 + 1e-6)) return std::nullopt;
    if (p > 0.0) entropy -= p * std::log(p);
  }
  return std::max(0.0, entropy);
}

MapStatistics map_statistics(const MatrixView& values, const std::optional<MatrixView>& mask) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  MapStatistics map;
  map.cells = values.rows * values.cols;
  double sum = 0.0;
  const auto is_open = [&](Index row, Index col) { return !mask || mask->value(row, col) != -infinity; };
  for (Index row = 0; row < values.rows; ++row) {
    for (Index col = 0; col < values.cols; ++col) {
      const double value = values.value(row, col);
      if (std::isnan(value)) ++map.nans;
      if (!is_open(row, col)) continue;
      ++map.open;
      if (value == -infinity) ++map.minus_infs;
      if (value == infinity) ++map.plus_infs;
      if (!std::isfinite(value)) continue;
      if (map.finite == 0 || value > map.largest) {
        map.largest = value;
        map.place = {row, col};
      }
      sum += value;
      ++map.finite;
    }
  }
  if (map.finite == 0) return map;
  map.mean = sum / static_cast<double>(map.finite);
  double squares = 0.0;
  for (Index row = 0; row < values.rows; ++row) {
    for (Index col = 0; col < values.cols; ++col) {
      const double value = values.value(row, col);
      if (std::isfinite(value) && is_open(row, col)) squares += (value - map.mean) * (value - map.mean);
    }
  }
  map.deviation = std::sqrt(squares / static_cast<double>(map.finite));
  return map;
}

}  // namespace headwise
