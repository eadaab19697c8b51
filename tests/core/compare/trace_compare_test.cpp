#include "core/compare/trace_compare.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace headwise;
using Id = TensorId;

namespace {

Tensor row(std::vector<double> values) {
  const auto size = static_cast<Index>(values.size());
  return Tensor(Shape{{"S", size}}, std::move(values));
}

TensorDifference compare(const Tensor& ours, const Tensor& theirs, double tolerance = 1e-6) {
  return compare_tensors({Id::scores}, ours, theirs, tolerance);
}

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("another shape is a difference, another name of an axis or type is none") {
  const Tensor ours(Shape{{"L", 2}, {"S", 1}}, std::vector<double>{1, 2});
  CHECK_FALSE(compare(ours, row({1, 2})).agrees());
  CHECK(difference_text(compare(ours, row({1, 2}))) == "scores: the shapes differ: ours (2,1), theirs (2)");
  CHECK(compare(ours, Tensor(Shape{{"a", 2}, {"b", 1}}, std::vector<float>{1, 2})).agrees());
}

TEST_CASE("NaN agrees with NaN and an infinity with itself, and with nothing else") {
  CHECK(compare(row({not_a_number, infinite, -infinite}), row({not_a_number, infinite, -infinite})).agrees());
  for (const auto& [a, b] : {std::pair{not_a_number, 1.0},
                             {1.0, not_a_number},
                             {infinite, -infinite},
                             {infinite, 1e300},
                             {not_a_number, infinite}}) {
    const TensorDifference difference = compare(row({0, a}), row({0, b}), 1e30);
    CHECK(difference.non_finite_mismatches == 1);
    CHECK_FALSE(difference.agrees());
    CHECK(difference.worst == std::vector<Index>{1});
    CHECK(difference.largest_absolute == infinite);
  }
}

TEST_CASE("a number near 0 is judged by its neighbours, small tensors by their own size") {
  CHECK(compare(row({1e-12, 1.0}), row({2e-12, 1.0})).agrees());
  CHECK_FALSE(compare(row({1e-12, 3e-12}), row({2e-12, 3e-12})).agrees());
  CHECK(compare(row({1e9 + 1, 1.0}), row({1e9, 1.0})).agrees());
}

TEST_CASE("a huge fill beside them does not hide a difference between ordinary numbers") {
  CHECK_FALSE(compare(row({-1e9, 1.0}), row({-1e9, 1.001})).agrees());
}

TEST_CASE("the tolerance is the boundary: a hair inside agrees, a hair outside differs") {
  CHECK(compare(row({1.0}), row({1.0 - 0.9e-6})).agrees());
  CHECK_FALSE(compare(row({1.0}), row({1.0 - 1.1e-6})).agrees());
}

TEST_CASE("empty tensors agree") {
  CHECK(compare(row({}), row({})).agrees());
  CHECK(difference_text(compare(row({}), row({}))) == "scores: all 0 cells are equal");
}

TEST_CASE("a difference reads as one line") {
  CHECK(
      difference_text(compare(row({1.0, 1.5}), row({1.0, 1.25}))) ==
      "scores: 1 of 2 cells differ, the most at [1]: ours 1.5, theirs 1.25 (absolute 0.25, relative 0.167)");
  CHECK(difference_text(compare(row({1.0, 2.0}), row({1.0, 2.0}))) == "scores: all 2 cells are equal");
}
