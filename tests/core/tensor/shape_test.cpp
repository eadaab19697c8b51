#include "core/tensor/shape.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/tensor/error.h"

using namespace headwise;

TEST_CASE("a shape counts its cells row-major, the last axis contiguous") {
  const Shape shape{{"N", 2}, {"H", 3}, {"L", 4}};
  CHECK(shape.element_count() == 24);
  CHECK(shape.strides() == std::vector<Index>{12, 4, 1});
  CHECK(shape.offset(std::vector<Index>{1, 2, 3}) == 23);
  for (Index i = 0; i < 24; ++i) CHECK(shape.offset(shape.index_of(i)) == i);
}

TEST_CASE("a shape prints its letters and its sizes") {
  const Shape shape{{"N", 1}, {"S′", 12}};
  CHECK(shape.letters() == "(N,S′)");
  CHECK(shape.sizes_text() == "(1,12)");
  CHECK(shape.to_string() == "(N=1, S′=12)");
  CHECK(Shape{}.element_count() == 1);
}

TEST_CASE("an index outside its axis is an error that shows the shape") {
  const Shape shape{{"L", 2}, {"S", 2}};
  CHECK_THROWS_WITH_AS(shape.offset(std::vector<Index>{0, 2}), doctest::Contains("(L=2, S=2)"), Error);
  CHECK_THROWS_AS(shape.offset(std::vector<Index>{0}), Error);
  CHECK_THROWS_AS(shape.offset(std::vector<Index>{-1, 0}), Error);
}

TEST_CASE("sizes that are negative or overflow are refused, also beside a zero") {
  const Index huge = std::numeric_limits<Index>::max() / 2;
  CHECK_THROWS_AS((Shape{{"N", -1}}), Error);
  CHECK_THROWS_AS((Shape{{"N", huge}, {"L", 3}}), Error);
  CHECK_THROWS_AS((Shape{{"N", huge}, {"L", 0}, {"E", 3}}), Error);
  CHECK(Shape{{"N", 0}, {"L", 3}}.element_count() == 0);
}
