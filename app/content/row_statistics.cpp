#include "app/content/row_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headwise {

CellStatistics cell_statistics(const MatrixView& values, const std::optional<MatrixView>& mask) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CellStatistics all;
  all.cells = values.rows * values.cols;
  double sum = 0.0;
  const auto is_open = [&](Index row, Index col) { return !mask || mask->value(row, col) != -infinity; };
  for (Index row = 0; row < values.rows; ++row) {
    for (Index col = 0; col < values.cols; ++col) {
      const double value = values.value(row, col);
      if (std::isnan(value)) ++all.nans;
      if (std::isfinite(value)) all.sum += value;
      if (!is_open(row, col)) continue;
      ++all.open;
      if (value == -infinity) ++all.minus_infs;
      if (value == infinity) ++all.plus_infs;
      if (!std::isfinite(value)) continue;
      if (all.finite == 0 || value > all.largest) {
        all.largest = value;
        all.place = {row, col};
      }
      all.least = all.finite == 0 ? value : std::min(all.least, value);
      sum += value;
      ++all.finite;
    }
  }
  if (all.finite == 0) return all;
  all.mean = sum / static_cast<double>(all.finite);
  double squares = 0.0;
  for (Index row = 0; row < values.rows; ++row) {
    for (Index col = 0; col < values.cols; ++col) {
      const double value = values.value(row, col);
      if (std::isfinite(value) && is_open(row, col)) squares += (value - all.mean) * (value - all.mean);
    }
  }
  all.deviation = std::sqrt(squares / static_cast<double>(all.finite));
  return all;
}

MatrixView row_of(const MatrixView& matrix, Index row) {
  MatrixView view = matrix;
  view.offset = matrix.flat(row, 0);
  view.rows = 1;
  return view;
}

}  // namespace headwise
