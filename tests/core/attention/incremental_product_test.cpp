#include "core/attention/matrix_product.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "core/tensor/random.h"

using namespace headwise;

namespace {

constexpr Index rows_of_product = 21, depth = 5, columns = 19, slices = 8;
// Stands where an earlier product would: whatever still shows it was copied, not computed.
constexpr double earlier_number = 1000.0;

std::vector<double> numbers(Index count, const char* name) {
  const CounterRandom random(3, name);
  std::vector<double> made(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = random.uniform(i) - 0.5;
  return made;
}

// Some products of one size, the right side by rows or by columns.
struct Products {
  std::vector<double> left = numbers(slices * rows_of_product * depth, "left");
  std::vector<double> right = numbers(slices * depth * columns, "right");
  std::vector<double> bias = numbers(columns, "bias");
  std::vector<double> out =
      std::vector<double>(static_cast<std::size_t>(slices * rows_of_product * columns), -7.0);
  bool by_columns = false;

  std::vector<DoubleProduct> list() {
    std::vector<DoubleProduct> products;
    for (Index i = 0; i < slices; ++i)
      products.push_back({.rows = rows_of_product,
                          .depth = depth,
                          .columns = columns,
                          .left = left.data() + i * rows_of_product * depth,
                          .left_step = depth,
                          .right = right.data() + i * depth * columns,
                          .right_row_step = by_columns ? 1 : columns,
                          .right_column_step = by_columns ? depth : 1,
                          .out = out.data() + i * rows_of_product * columns,
                          .out_step = columns,
                          .bias = bias.data()});
    return products;
  }

  std::vector<EarlierProduct> earlier() const {
    std::vector<EarlierProduct> before;
    for (Index i = 0; i < slices; ++i)
      before.push_back({left.data() + i * rows_of_product * depth, right.data() + i * depth * columns,
                        bias.data(), out.data() + i * rows_of_product * columns});
    return before;
  }

  double& left_at(Index slice, Index row, Index k) {
    return left[static_cast<std::size_t>((slice * rows_of_product + row) * depth + k)];
  }
  double& right_at(Index slice, Index k, Index column) {
    const Index at = by_columns ? column * depth + k : k * columns + column;
    return right[static_cast<std::size_t>(slice * depth * columns + at)];
  }
};

// Every cell that reads a changed number is the product's, to the bit, and every other one is copied.
template <class Reads>
void check_incremental(const Products& before, Products after, Reads reads) {
  Products fresh = after;
  multiply_doubles(fresh.list());
  REQUIRE(incremental_product(after.list(), before.earlier()) == ProductChange::some);
  Index wrong = 0;
  for (Index i = 0; i < slices; ++i)
    for (Index r = 0; r < rows_of_product; ++r)
      for (Index c = 0; c < columns; ++c) {
        const auto at = static_cast<std::size_t>((i * rows_of_product + r) * columns + c);
        const double expected = reads(i, r, c) ? fresh.out[at] : earlier_number;
        wrong += std::memcmp(&after.out[at], &expected, sizeof expected) != 0;
      }
  CHECK(wrong == 0);
}

Products earlier_products(bool by_columns) {
  Products products;
  products.by_columns = by_columns;
  products.out.assign(products.out.size(), earlier_number);
  return products;
}

}  // namespace

TEST_CASE("beside an earlier product only the rows and columns that read a change are computed") {
  for (const bool by_columns : {false, true}) {
    CAPTURE(by_columns);
    const Products before = earlier_products(by_columns);

    Products after = before;
    after.left_at(2, 4, 1) = 0.75;
    after.left_at(2, 5, 0) = -0.0;
    after.left_at(6, 20, 4) = __builtin_nan("");
    check_incremental(before, after, [](Index i, Index r, Index) {
      return (i == 2 && (r == 4 || r == 5)) || (i == 6 && r == 20);
    });

    after = before;
    after.right_at(0, 3, 18) = 2.0;
    after.right_at(0, 3, 3) = 2.0;
    after.left_at(0, 11, 3) = 4.0;
    check_incremental(before, after,
                      [](Index i, Index r, Index c) { return i == 0 && (r == 11 || c == 18 || c == 3); });

    after = before;
    after.bias[7] = 1.0;
    check_incremental(before, after, [](Index, Index, Index c) { return c == 7; });
  }
}

TEST_CASE("a product most of whose rows changed is computed as a whole, the others beside it are copied") {
  const Products before = earlier_products(true);
  Products after = before;
  for (Index r = 0; r < rows_of_product; ++r) after.left_at(5, r, 0) += 1.0;
  check_incremental(before, after, [](Index i, Index, Index) { return i == 5; });
}

TEST_CASE("nothing is written where nothing changed, or most did") {
  const Products before = earlier_products(false);
  Products after = before;
  after.out.assign(after.out.size(), -7.0);
  CHECK(incremental_product(after.list(), before.earlier()) == ProductChange::none);
  CHECK(after.out == std::vector<double>(after.out.size(), -7.0));
  for (Index i = 0; i < slices; i += 2)
    for (Index r = 0; r < rows_of_product; ++r) after.left_at(i, r, 0) += 1.0;
  CHECK(incremental_product(after.list(), before.earlier()) == ProductChange::most);
  CHECK(after.out == std::vector<double>(after.out.size(), -7.0));
}
