// Products and the softmax in doubles, on every instruction set that this machine has.
#include "core/attention/matrix_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/tensor/instruction_set.h"
#include "core/tensor/random.h"

using namespace headwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan_number = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;

std::map<std::string, const MatrixKernels*> kernels_here() {
  std::map<std::string, const MatrixKernels*> all;
  for (const InstructionSet set : instruction_sets())
    if (machine_runs(set)) all[instruction_set_name(set)] = &matrix_kernels(set);
  return all;
}

Numbers normal_numbers(const char* name, Index count, double deviation = 1.0) {
  const CounterRandom random(3, name);
  Numbers numbers;
  for (Index i = 0; i < count; ++i)
    numbers.push_back(deviation * random.normal(static_cast<std::uint64_t>(i)));
  return numbers;
}

// left·right + bias, its right side by rows or by columns.
struct Given {
  Index rows, depth, columns;
  bool by_columns;
  Numbers left = normal_numbers("left", rows*depth), right = normal_numbers("right", depth*columns);
  Numbers bias = normal_numbers("bias", columns);

  double right_at(Index k, Index c) const {
    return right[static_cast<std::size_t>(by_columns ? c * depth + k : k * columns + c)];
  }
  // Rows [row, row + made_rows) and columns [column, column + made_columns), beside which nothing is written.
  Numbers part(const MatrixKernels& kernels, Index row, Index made_rows, Index column,
               Index made_columns) const {
    const Index step = made_columns + 3;
    Numbers out(static_cast<std::size_t>(made_rows * step), 0.25), made;
    kernels.multiply({.rows = made_rows,
                      .depth = depth,
                      .columns = made_columns,
                      .left = left.data() + row * depth,
                      .left_step = depth,
                      .right = right.data() + column * (by_columns ? depth : 1),
                      .right_row_step = by_columns ? 1 : columns,
                      .right_column_step = by_columns ? depth : 1,
                      .out = out.data(),
                      .out_step = step,
                      .bias = bias.data() + column});
    for (Index r = 0; r < made_rows; ++r) {
      const auto begin = out.begin() + r * step;
      made.insert(made.end(), begin, begin + made_columns);
      CHECK(std::all_of(begin + made_columns, begin + step, [](double x) { return x == 0.25; }));
    }
    return made;
  }
};

Numbers softmax_of(const MatrixKernels& kernels, const Numbers& scores, bool zero = false) {
  Numbers weights(scores.size());
  kernels.softmax({1, static_cast<Index>(scores.size()), scores.data(), weights.data(), zero});
  return weights;
}

}  // namespace

TEST_CASE("a cell of a product is its sum, and has the same bits whatever is computed beside it") {
  for (const auto& [name, kernels] : kernels_here())
    for (const bool by_columns : {false, true})
      for (const Index rows : {1, 2, 7, 97})
        for (const Index depth : {0, 1, 8, 64, 515})
          for (const Index columns : {1, 3, 16, 24, 31, 67}) {
            CAPTURE(name);
            CAPTURE(by_columns);
            CAPTURE(rows);
            CAPTURE(depth);
            CAPTURE(columns);
            const Given given{rows, depth, columns, by_columns};
            const Numbers whole = given.part(*kernels, 0, rows, 0, columns);
            double worst = 0.0;
            for (Index r = 0; r < rows; ++r)
              for (Index c = 0; c < columns; ++c) {
                long double sum = given.bias[static_cast<std::size_t>(c)], size = std::abs(sum);
                for (Index k = 0; k < depth; ++k) {
                  const long double addend =
                      static_cast<long double>(given.left[static_cast<std::size_t>(r * depth + k)]) *
                      given.right_at(k, c);
                  sum += addend;
                  size += std::abs(addend);
                }
                const long double apart = std::abs(whole[static_cast<std::size_t>(r * columns + c)] - sum);
                worst = std::max(worst, static_cast<double>(apart / size));
              }
            CHECK(worst < 1e-15 * std::sqrt(static_cast<double>(depth + 1)));
            for (const Index row : {Index{0}, rows / 2, rows - 1})
              for (const Index column : {Index{0}, columns / 3, columns - 1})
                for (const Index size : {1, 2, 5}) {
                  const Index some_rows = std::min(size, rows - row),
                              some_columns = std::min(4 * size, columns - column);
                  const Numbers part = given.part(*kernels, row, some_rows, column, some_columns);
                  Index differ = 0;
                  for (Index r = 0; r < some_rows; ++r)
                    differ += std::memcmp(&part[static_cast<std::size_t>(r * some_columns)],
                                          &whole[static_cast<std::size_t>((row + r) * columns + column)],
                                          static_cast<std::size_t>(some_columns) * sizeof(double)) != 0;
                  CHECK(differ == 0);
                }
          }
}

TEST_CASE("a product skips nothing: 0·NaN and 0·∞ are NaN") {
  for (const auto& [name, kernels] : kernels_here()) {
    CAPTURE(name);
    Given given{3, 4, 5, false};
    std::ranges::fill(given.left, 0.0);
    given.right[7] = nan_number;
    given.right[16] = infinity;
    const Numbers out = given.part(*kernels, 0, 3, 0, 5);
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::isnan(out[i]) == (i % 5 == 2 || i % 5 == 1));
  }
}

TEST_CASE("weights are e^x over their sum, to a few units in the last place, and 0 from e^−708 on") {
  for (const auto& [name, kernels] : kernels_here())
    for (const Index keys : {1, 3, 8, 100, 1003}) {
      CAPTURE(name);
      CAPTURE(keys);
      Numbers scores = normal_numbers("scores", keys, 150.0);
      const double largest = std::ranges::max(scores);
      const Numbers weights = softmax_of(*kernels, scores);
      long double sum = 0.0L;
      for (const double x : scores) sum += std::exp(static_cast<long double>(x) - largest);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const double expected =
            static_cast<double>(std::exp(static_cast<long double>(scores[i]) - largest) / sum);
        const double below = largest - scores[i];  // its own rounding is an error of e^−below
        CAPTURE(below);
        if (below >= 708.0)
          REQUIRE(weights[i] == 0.0);
        else
          REQUIRE(std::abs(weights[i] - expected) <= 2e-16 * (10.0 + below) * expected + 5e-324);
      }
    }
}

TEST_CASE("the weights of a row do not depend on where it stands in memory") {
  const Numbers scores = normal_numbers("scores", 61, 5.0);
  for (const auto& [name, kernels] : kernels_here()) {
    CAPTURE(name);
    const Numbers expected = softmax_of(*kernels, scores);
    for (std::size_t at = 0; at < 9; ++at) {
      Numbers from(80), to(80);
      std::ranges::copy(scores, from.begin() + static_cast<std::ptrdiff_t>(at));
      kernels->softmax({1, 61, from.data() + at, to.data() + 8 - at, false});
      CHECK(std::memcmp(to.data() + 8 - at, expected.data(), 61 * sizeof(double)) == 0);
    }
  }
}

TEST_CASE("what is not finite among the scores stays what PyTorch makes of it") {
  for (const auto& [name, kernels] : kernels_here()) {
    CAPTURE(name);
    for (const std::size_t place : {0, 5, 8, 10}) {
      Numbers x(11, -1.0);
      x[place] = -infinity;
      const Numbers weights = softmax_of(*kernels, x);
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(weights[i] == (i == place ? 0.0 : 0.1));
      for (const double spoils : {nan_number, infinity}) {
        x[place] = spoils;
        for (const bool zero : {false, true})
          for (const double weight : softmax_of(*kernels, x, zero)) CHECK(std::isnan(weight));
      }
    }
    const Numbers blocked(9, -infinity);
    for (const double weight : softmax_of(*kernels, blocked)) CHECK(std::isnan(weight));
    CHECK(softmax_of(*kernels, blocked, true) == Numbers(9, 0.0));
  }
}

TEST_CASE("narrowing rounds to the nearest float, and says where a finite number is beyond them") {
  for (const auto& [name, kernels] : kernels_here()) {
    CAPTURE(name);
    const Numbers x = normal_numbers("wide", 1003);
    std::vector<float> to(x.size());
    CHECK(kernels->narrow(x.data(), 1003, to.data()));
    for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(to[i] == static_cast<float>(x[i]));
    const double largest = std::numeric_limits<float>::max();
    for (const std::size_t place : {0, 13, 16, 18}) {
      for (const double fits :
           {largest, -largest, infinity, -infinity, std::nextafter(0x1.ffffffp127, 0.0), nan_number}) {
        Numbers y(19, 0.5);
        y[place] = fits;
        CHECK(kernels->narrow(y.data(), 19, to.data()));
      }
      for (const double beyond : {0x1.ffffffp127, -0x1.ffffffp127, 1e300}) {
        Numbers y(19, 0.5);
        y[place] = beyond;
        CHECK_FALSE(kernels->narrow(y.data(), 19, to.data()));
        CHECK(std::isinf(to[place]));
      }
    }
  }
}
