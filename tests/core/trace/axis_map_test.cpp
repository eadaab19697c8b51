#include "core/trace/rules.h"

#include <doctest/doctest.h>

using namespace headwise;

namespace {

using Values = std::vector<std::vector<Interval>>;

Values leading_to(std::vector<Index> index, std::vector<AxisMap> maps, std::vector<Interval> ranges) {
  return variables_leading_to(index, maps, ranges);
}

}  // namespace

TEST_CASE("an axis map runs forwards: shift, group, place within the group, joined axes, a fixed index") {
  const std::vector<Index> variables{3, 7};
  CHECK(mapped_index(axis_of(1), variables) == 7);
  CHECK(mapped_index(axis_of(1, 10), variables) == 17);
  CHECK(mapped_index(axis_group(1, 4), variables) == 1);
  CHECK(mapped_index(axis_within(1, 4), variables) == 3);
  CHECK(mapped_index(axis_joined(0, 8, 1), variables) == 31);
  CHECK(mapped_index(axis_fixed(5), variables) == 5);
}

TEST_CASE("the interval of a map is the interval of the indices it takes on") {
  const std::vector<Interval> ranges{{2, 4}, {5, 7}};
  CHECK(mapped_interval(axis_of(0, 10), ranges) == Interval{12, 14});
  CHECK(mapped_interval(axis_group(1, 3), ranges) == Interval{1, 3});
  CHECK(mapped_interval(axis_within(1, 8), ranges) == Interval{5, 7});
  CHECK(mapped_interval(axis_within(1, 6), ranges) == Interval{0, 6});  // 5 and 0: across the seam
  CHECK(mapped_interval(axis_fixed(9), ranges) == Interval{9, 10});
}

TEST_CASE("an axis map runs backwards: from the index to the variables that lead there") {
  const std::vector<Interval> ranges{{0, 4}, {0, 12}};
  CHECK(leading_to({7}, {axis_of(1, 5)}, ranges) == Values{{{0, 4}}, {{2, 3}}});
  CHECK(leading_to({2}, {axis_group(1, 4)}, ranges) == Values{{{0, 4}}, {{8, 12}}});
  CHECK(leading_to({2, 1}, {axis_group(1, 4), axis_within(1, 4)}, ranges) == Values{{{0, 4}}, {{9, 10}}});
  CHECK(leading_to({31}, {axis_joined(0, 12, 1)}, ranges) == Values{{{2, 3}}, {{7, 8}}});
}

TEST_CASE("a place within every group leads to one value in each of them") {
  CHECK(leading_to({1}, {axis_within(0, 4)}, {{0, 10}}) == Values{{{1, 2}, {5, 6}, {9, 10}}});
}

TEST_CASE("nothing leads to an index that the map does not take on") {
  const std::vector<Interval> ranges{{0, 4}, {0, 12}};
  const Values none(2);
  CHECK(leading_to({4}, {axis_of(1, 5)}, ranges) == none);   // below the shift
  CHECK(leading_to({17}, {axis_of(1, 5)}, ranges) == none);  // past the end
  CHECK(leading_to({4}, {axis_within(1, 4)}, ranges) == none);
  CHECK(leading_to({48}, {axis_joined(0, 12, 1)}, ranges) == none);
  CHECK(leading_to({1}, {axis_fixed(0)}, ranges) == none);
  CHECK(leading_to({0}, {axis_of(0)}, {{0, 4}, {3, 3}}) == none);  // an empty range
}

TEST_CASE("a map of a map: digits that are told apart stay digits of the new variables") {
  const std::vector<Interval> ranges{{0, 4}, {0, 3}};
  const std::vector<AxisMap> joined{axis_joined(0, 3, 1)};  // x = 3·a + b
  CHECK(substituted(axis_of(0, 5), joined, ranges) == axis_joined(0, 3, 1, 5));
  CHECK(substituted(axis_group(0, 3), joined, ranges) == axis_of(0));
  CHECK(substituted(axis_within(0, 3), joined, ranges) == axis_of(1));
  CHECK(substituted(axis_group(0, 12), joined, ranges) == axis_fixed(0));
  CHECK_FALSE(substituted(axis_group(0, 2), joined, ranges));
  CHECK_FALSE(substituted(axis_within(0, 2), joined, ranges));
  const std::vector<AxisMap> turned{axis_of(1), axis_of(0)};
  CHECK(substituted(axis_joined(1, 3, 0), turned, ranges) == axis_joined(0, 3, 1));
  CHECK(substituted(axis_fixed(7), turned, ranges) == axis_fixed(7));
}

TEST_CASE("a map of a map is the map of the mapped numbers") {
  const std::vector<Interval> ranges{{0, 4}, {0, 6}};
  const std::vector<AxisMap> values{axis_joined(0, 6, 1), axis_of(1, 2)};
  for (const AxisMap& map : {axis_of(0), axis_group(0, 3), axis_within(0, 3), axis_group(0, 6), axis_of(1, 3),
                             axis_joined(0, 10, 1), AxisMap{0, {{.variable = 0, .divide = 3, .modulus = 2}}}}) {
    const auto both = substituted(map, values, ranges);
    if (!both) continue;  // not a whole digit any more
    for (Index a = 0; a < 4; ++a) {
      for (Index b = 0; b < 6; ++b) {
        const std::vector<Index> inner{6 * a + b, b + 2};
        CHECK(mapped_index(*both, std::vector{a, b}) == mapped_index(map, inner));
      }
    }
  }
}
