#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/lessons/tensor_change.h"
#include "core/tensor/random.h"

using namespace headwise;

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

TensorPtr matrix(std::vector<double> values, Index rows, Index cols) {
  return std::make_shared<const Tensor>(Shape{{"L", rows}, {"S", cols}}, std::move(values));
}

}  // namespace

TEST_CASE("a change is told by its largest cell, its place and its share of the length before") {
  const TensorPtr before = matrix({3, 0, 0, 4}, 2, 2), after = matrix({3, 0.25, 0, 3.5}, 2, 2);
  const TensorChange change = tensor_change(matrix_view(before), matrix_view(after));
  CHECK(change.cells == 4);
  CHECK(change.changed == 2);
  CHECK(change.largest == 0.5);
  CHECK(change.row == 1);
  CHECK(change.col == 1);
  CHECK(change.length == doctest::Approx(std::sqrt(0.25 + 0.0625)));
  REQUIRE(change.relative());
  CHECK(*change.relative() == doctest::Approx(change.length / 5.0));
}

TEST_CASE("a transposed view is compared cell by cell as it is seen") {
  const TensorPtr before = matrix({1, 2, 3, 4, 5, 6}, 2, 3), after = matrix({1, 4, 2, 5, 3, 6}, 3, 2);
  CHECK(tensor_change(matrix_view(before).transposed(), matrix_view(after)).changed == 0);
}

TEST_CASE(
    "NaN agrees with NaN and an infinity with itself; on one side only they are counted and not measured") {
  const TensorPtr before = matrix({NAN, -unbounded, 1, 2, unbounded}, 1, 5);
  const TensorPtr after = matrix({NAN, -unbounded, NAN, 3, -unbounded}, 1, 5);
  const TensorChange change = tensor_change(before, after);
  CHECK(change.changed == 3);
  CHECK(change.mismatches == 2);
  CHECK(change.not_finite == 4);
  CHECK(change.largest == 1.0);
  CHECK(change.col == 3);
  CHECK(*change.relative() == 0.5);
  const TensorPtr difference = difference_of(matrix_view(before), matrix_view(after));
  CHECK(difference->flat(0) == 0.0);
  CHECK(difference->flat(1) == 0.0);
  CHECK(std::isnan(difference->flat(2)));
  CHECK(difference->flat(3) == 1.0);
  CHECK(difference->flat(4) == -unbounded);
}

TEST_CASE(
    "the largest change by itself is that of the whole comparison, and none where a cell is not finite") {
  const CounterRandom random(3, "changes");
  for (const Index cells : {0, 1, 17, 20000, 40000}) {
    Tensor before(Shape{{"S", cells}}, DType::f32), after(before.shape(), DType::f32);
    for (Index i = 0; i < cells; ++i) {
      before.set_flat(i, random.normal(static_cast<std::uint64_t>(2 * i)));
      // Differences of all magnitudes, some of them lost in a float;
      // in the longest tensor the same everywhere.
      after.set_flat(
          i, cells == 40000 ? before.flat(i) : 1e-9 * random.normal(static_cast<std::uint64_t>(2 * i + 1)));
    }
    const auto a = std::make_shared<const Tensor>(before), b = std::make_shared<const Tensor>(after);
    const std::optional<double> largest = largest_change(a, b);
    REQUIRE(largest);
    CHECK(*largest == tensor_change(a, b).largest);
    if (cells == 0) continue;
    for (const double odd : {std::nan(""), unbounded}) {
      after.set_flat(cells / 2, odd);
      CHECK_FALSE(largest_change(a, std::make_shared<const Tensor>(after)));
    }
  }
  CHECK_FALSE(largest_change(matrix({1}, 1, 1), matrix({2}, 1, 1)));  // f64
}

TEST_CASE("what was 0 everywhere, or is no number anywhere, has changed by no share") {
  CHECK_FALSE(tensor_change(matrix({0, 0}, 1, 2), matrix({1, 0}, 1, 2)).relative());
  const TensorChange lost = tensor_change(matrix({NAN, NAN}, 1, 2), matrix({1, 0}, 1, 2));
  CHECK_FALSE(lost.relative());
  CHECK(lost.row == -1);
  CHECK(lost.mismatches == 2);
}
