#include "core/answers/tensor_change.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace headwise {
namespace {

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

std::optional<double> TensorChange::relative() const {
  if (length_before == 0.0) return std::nullopt;
  return length / length_before;
}

TensorChange tensor_change(const MatrixView& before, const MatrixView& after) {
  TensorChange change;
  change.cells = after.rows * after.cols;
  double squares = 0.0, squares_before = 0.0;
  for (Index row = 0; row < after.rows; ++row) {
    for (Index col = 0; col < after.cols; ++col) {
      const double a = before.value(row, col), b = after.value(row, col);
      const bool finite = std::isfinite(a) && std::isfinite(b);
      if (!std::isfinite(b)) ++change.not_finite;
      if (finite) squares_before += a * a;
      if (same(a, b)) continue;
      ++change.changed;
      if (!finite) {
        ++change.mismatches;
        continue;
      }
      const double delta = b - a;
      squares += delta * delta;
      if (change.row < 0 || std::abs(delta) > change.largest) {
        change.largest = std::abs(delta);
        change.row = row;
        change.col = col;
      }
    }
  }
  change.length = std::sqrt(squares);
  change.length_before = std::sqrt(squares_before);
  return change;
}

TensorChange tensor_change(const TensorPtr& before, const TensorPtr& after) {
  const auto as_row = [](const TensorPtr& tensor) {
    return MatrixView{tensor, 0, 1, tensor->size(), tensor->size(), 1};
  };
  return tensor_change(as_row(before), as_row(after));
}

std::string percent_text(double share) {
  const double value = 100.0 * share;
  if (value >= 99.5) return fmt::format("{:.0f} %", value);
  return fmt::format("{:.2g} %", value);
}

TensorPtr difference_of(const MatrixView& before, const MatrixView& after) {
  Tensor difference(Shape{{"rows", after.rows}, {"cols", after.cols}}, DType::f64);
  for (Index row = 0; row < after.rows; ++row) {
    for (Index col = 0; col < after.cols; ++col) {
      const double a = before.value(row, col), b = after.value(row, col);
      difference.set_flat(row * after.cols + col, same(a, b) ? 0.0 : b - a);
    }
  }
  return std::make_shared<const Tensor>(std::move(difference));
}

}  // namespace headwise
