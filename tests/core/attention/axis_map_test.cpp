// The maps of axes that rules are made of, and the transposed products that follow from them.
#include "core/attention/rules.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "core/attention/transposed_product.h"

using namespace headwise;
using Id = TensorId;

namespace {

using Values = std::vector<std::vector<Interval>>;

Values leading_to(std::vector<Index> index, std::vector<AxisMap> maps, std::vector<Interval> ranges) {
  return variables_leading_to(index, maps, ranges);
}

// scores[i,j] = Σ_d q_heads[…] · k_heads[…], of sizes I × J, with D summed.
Rule product_rule(std::vector<AxisMap> left, std::vector<AxisMap> right, Index i, Index j, Index d) {
  Rule rule{{Id::scores}, {i, j}, Combine::product_sum, {}};
  Product& product = rule.products.emplace_back();
  product.factors = {{{Id::q_heads}, std::move(left)}, {{Id::k_heads}, std::move(right)}};
  product.sums = {{"d", d}};
  return rule;
}

Product transposed(const Rule& rule, std::size_t factor, const std::vector<Index>& sizes) {
  return transposed_product(rule, rule.products[0], factor, sizes, {"i", "j"});
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

TEST_CASE("a matrix product turned round sums over the axis that the factor does not have") {
  const Rule rule = product_rule({axis_of(0), axis_of(2)}, {axis_of(1), axis_of(2)}, 4, 5, 3);
  const Product left = transposed(rule, 0, {4, 3});
  REQUIRE(left.sums.size() == 1);
  CHECK(left.sums[0].letter == "j");
  CHECK(left.sums[0].size == 5);
  CHECK(left.where.empty());
  CHECK(left.factors[0].tensor == TensorName{Id::scores, true});
  CHECK(left.factors[0].axes == std::vector{axis_of(0), axis_of(2)});
  CHECK(left.factors[1].tensor == TensorName{Id::k_heads});
  CHECK(left.factors[1].axes == std::vector{axis_of(2), axis_of(1)});
}

TEST_CASE("rows that a product reads from a stacked matrix are the only ones that it sends back to") {
  const Rule rule = product_rule({axis_of(0), axis_of(2)}, {axis_of(1, 7), axis_of(2)}, 4, 5, 3);
  const Product right = transposed(rule, 1, {20, 3});
  REQUIRE(right.where.size() == 1);
  CHECK(right.where[0].axis == 0);
  CHECK(right.where[0].range == Interval{7, 12});
  CHECK(right.factors[0].axes == std::vector{axis_of(2), axis_of(0, -7)});
}

TEST_CASE("a product that holds for some rows sends back from those rows") {
  Rule rule = product_rule({axis_of(0), axis_of(2)}, {axis_of(1), axis_of(2)}, 4, 5, 3);
  rule.products[0].where = {{0, {1, 3}}};
  const Product left = transposed(rule, 0, {4, 3});
  REQUIRE(left.where.size() == 1);
  CHECK(left.where[0].range == Interval{1, 3});
  const Product right = transposed(rule, 1, {5, 3});
  CHECK(right.where.empty());
  REQUIRE(right.sums.size() == 1);
  CHECK(right.sums[0].size == 2);
  CHECK(right.factors[0].axes == std::vector{axis_of(2, 1), axis_of(0)});
}

TEST_CASE("a row that a product appends reads back from that one row, without a sum") {
  Rule rule{{Id::k}, {2, 5, 3}, Combine::product_sum, {}};
  rule.products.push_back({{{{Id::bias_k}, {axis_of(2)}}}, {}, {{1, {4, 5}}}, {}, {}});
  const Product way = transposed_product(rule, rule.products[0], 0, {3}, {"n", "s", "c"});
  REQUIRE(way.sums.size() == 1);
  CHECK(way.sums[0].letter == "n");
  CHECK(way.factors[0].axes == std::vector{axis_of(1), axis_fixed(4), axis_of(0)});
}

TEST_CASE("a factor that is shared by groups collects from its group, one that is tiled from every tile") {
  const Rule shared = product_rule({axis_of(0), axis_of(2)}, {axis_group(1, 3), axis_of(2)}, 4, 6, 5);
  CHECK(transposed(shared, 1, {2, 5}).factors[0].axes == std::vector{axis_of(2), axis_joined(0, 3, 3)});
  const Rule tiled = product_rule({axis_of(0), axis_of(2)}, {axis_within(1, 3), axis_of(2)}, 4, 6, 5);
  const Product way = transposed(tiled, 1, {3, 5});
  CHECK(way.sums[1].size == 2);
  CHECK(way.factors[0].axes == std::vector{axis_of(2), axis_joined(3, 3, 0)});
}

TEST_CASE("joined axes come apart, and digits of one axis join") {
  Rule split{{Id::q_heads}, {3, 4}, Combine::copy, {}};
  split.products.push_back({{{{Id::q}, {axis_joined(0, 4, 1)}}}, {}, {}, {}, {}});
  const Product joined = transposed_product(split, split.products[0], 0, {12}, {"h", "d"});
  CHECK(joined.sums.empty());
  CHECK(joined.factors[0].axes ==
        std::vector{AxisMap{0, {{.variable = 0, .divide = 4}}}, AxisMap{0, {{.variable = 0, .modulus = 4}}}});
  Rule merge{{Id::concat}, {12}, Combine::copy, {}};
  merge.products.push_back({{{{Id::head_output}, {axis_group(0, 4), axis_within(0, 4)}}}, {}, {}, {}, {}});
  const Product apart = transposed_product(merge, merge.products[0], 0, {3, 4}, {"c"});
  CHECK(apart.factors[0].axes == std::vector{axis_joined(0, 4, 1)});
}

TEST_CASE("axis maps without whole digits are refused, not guessed") {
  const Rule diagonal = product_rule({axis_of(0), axis_of(0)}, {axis_of(1), axis_of(2)}, 4, 5, 3);
  CHECK_THROWS_AS(transposed(diagonal, 0, {4, 4}), std::logic_error);
  const Rule ragged = product_rule({axis_of(0), axis_of(2)}, {axis_group(1, 3), axis_of(2)}, 4, 5, 3);
  CHECK_THROWS_AS(transposed(ragged, 1, {2, 3}), std::logic_error);
  const Rule gaps = product_rule({axis_of(0), axis_of(2)}, {axis_joined(1, 9, 2)}, 4, 5, 3);
  CHECK_THROWS_AS(transposed(gaps, 1, {45}), std::logic_error);
}
