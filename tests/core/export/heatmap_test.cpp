#include "core/export/heatmap.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/tensor/error.h"

using namespace headwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

// 0, 1, 2 … in the shape.
TensorPtr counting(Shape shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  std::iota(values.begin(), values.end(), 0.0);
  return std::make_shared<Tensor>(std::move(shape), std::move(values));
}

MatrixView row_of(std::vector<double> values) {
  const auto count = static_cast<Index>(values.size());
  return matrix_view(std::make_shared<Tensor>(Shape{{"S", count}}, std::move(values)));
}

}  // namespace

TEST_CASE("a matrix view shows the last two axes at the leading index") {
  const TensorPtr tensor = counting(Shape{{"N", 2}, {"H", 3}, {"L", 4}, {"S", 5}});
  const std::array<Index, 2> leading = {1, 2};
  const MatrixView view = matrix_view(tensor, leading);
  CHECK(view.rows == 4);
  CHECK(view.cols == 5);
  CHECK(view.value(3, 1) == tensor->at({1, 2, 3, 1}));
  CHECK(view.transposed().value(1, 3) == tensor->at({1, 2, 3, 1}));
  const std::array<Index, 1> batch = {1};
  CHECK(matrix_view(tensor, batch).value(0, 0) == tensor->at({1, 0, 0, 0}));
}

TEST_CASE("a vector is one row, a number one cell, an empty leading axis no cell") {
  CHECK(matrix_view(counting(Shape{{"E", 4}})).rows == 1);
  CHECK(matrix_view(counting(Shape{{"E", 4}})).value(0, 3) == 3.0);
  CHECK(matrix_view(counting(Shape{})).cols == 1);
  const MatrixView none = matrix_view(counting(Shape{{"N", 0}, {"L", 2}, {"E", 3}}));
  CHECK(none.rows * none.cols == 0);
}

TEST_CASE("an index that the tensor does not have is refused") {
  const TensorPtr tensor = counting(Shape{{"H", 3}, {"L", 4}, {"S", 5}});
  for (const std::vector<Index>& leading : {std::vector<Index>{3}, {-1}, {0, 0}})
    CHECK_THROWS_AS(matrix_view(tensor, leading), Error);
}

TEST_CASE("a range spans what is finite: symmetric, from 0, or as it is") {
  const std::array<MatrixView, 2> views = {row_of({-1.0, not_a_number, 2.0}),
                                           row_of({infinity, -4.0, 3.0, -infinity})};
  CHECK(range_of(views, true, false) == ValueRange{-4.0, 4.0});
  CHECK(range_of(views, false, false) == ValueRange{-4.0, 3.0});
  const std::array<MatrixView, 1> weights = {row_of({0.25, 0.75})};
  CHECK(range_of(weights, false, true) == ValueRange{0.0, 0.75});
  const std::array<MatrixView, 1> nothing = {row_of({not_a_number, infinity})};
  CHECK(range_of(nothing, true, false) == ValueRange{-1.0, 1.0});
  CHECK(range_of(nothing, false, true) == ValueRange{0.0, 1.0});
  const std::array<MatrixView, 1> zeros = {row_of({0.0, 0.0})};
  CHECK(range_of(zeros, false, true) == ValueRange{0.0, 1.0});
  CHECK(range_of(std::span<const MatrixView>{}, true, false) == ValueRange{-1.0, 1.0});
}

TEST_CASE("a cell is told apart: blocked, blocked with a value left, infinite, NaN") {
  HeatmapSpec spec;
  spec.values = row_of({0.5, -infinity, 0.0, 0.25, not_a_number, -infinity, infinity});
  spec.mask = row_of({0.0, -infinity, -infinity, -infinity, -infinity, 0.0, 0.0});
  const CellKind expected[] = {CellKind::value,         CellKind::blocked, CellKind::blocked,
                               CellKind::blocked_value, CellKind::nan,     CellKind::minus_inf,
                               CellKind::plus_inf};
  for (Index col = 0; col < 7; ++col) {
    CAPTURE(col);
    CHECK(cell_kind(spec, 0, col) == expected[col]);
  }
  spec.range = {0.0, 0.4};
  const HeatmapContents contents = heatmap_contents(spec);
  CHECK(contents.values == 1);
  CHECK(contents.blocked == 2);
  CHECK(contents.blocked_values == 1);
  CHECK(contents.nans == 1);
  CHECK(contents.minus_infs == 1);
  CHECK(contents.plus_infs == 1);
  CHECK(contents.above == 1);
  CHECK(contents.below == 0);
  CHECK(contents.min == 0.25);
  CHECK(contents.max == 0.5);
}

TEST_CASE("a mask that fills with a finite number does not flatten the range") {
  HeatmapSpec spec;
  spec.values = row_of({0.5, -2.0, -1e9});
  spec.mask = row_of({0.0, 0.0, -infinity});
  spec.blocked_at = -1e9;
  CHECK(cell_kind(spec, 0, 2) == CellKind::blocked);
  CHECK(range_of(std::span<const HeatmapSpec>(&spec, 1), true, false) == ValueRange{-2.0, 2.0});
}

TEST_CASE("only -inf in the mask blocks: a bias, and a number to fill with above it, do not") {
  HeatmapSpec spec;
  spec.values = row_of({0.5, 7.0, 0.25});
  spec.mask = row_of({-3.0, -infinity, -infinity});
  spec.blocked_at = 7.0;
  CHECK(cell_kind(spec, 0, 0) == CellKind::value);
  CHECK(cell_kind(spec, 0, 1) == CellKind::blocked);
  CHECK(cell_kind(spec, 0, 2) == CellKind::blocked_value);
}

TEST_CASE("a filling number that f32 rounds is known again") {
  HeatmapSpec spec;
  spec.values = matrix_view(std::make_shared<Tensor>(Shape{{"S", 1}}, std::vector<float>{-10000.1f}));
  spec.mask = row_of({-infinity});
  spec.blocked_at = -10000.1;
  CHECK(cell_kind(spec, 0, 0) == CellKind::blocked);
}
