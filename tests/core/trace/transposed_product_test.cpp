#include "core/trace/transposed_product.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace headwise;
using Id = TensorId;

namespace {

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
