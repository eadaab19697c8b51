// The loops over doubles, on every instruction set that this machine has.
#include "core/tensor/double_kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/tensor/instruction_set.h"
#include "core/tensor/random.h"

using namespace headwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::map<std::string, const DoubleKernels*> kernels_here() {
  std::map<std::string, const DoubleKernels*> all;
  for (const InstructionSet set : instruction_sets())
    if (machine_runs(set)) all[instruction_set_name(set)] = &double_kernels(set);
  return all;
}

std::vector<double> normal_numbers(const char* name, Index count, double deviation = 1.0) {
  const CounterRandom random(3, name);
  std::vector<double> numbers;
  for (Index i = 0; i < count; ++i)
    numbers.push_back(deviation * random.normal(static_cast<std::uint64_t>(i)));
  return numbers;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

TEST_CASE("a tile of a product is the sum in the order of k, bit for bit, and writes nothing beside it") {
  constexpr Index depth = 37, step = 20;
  for (const auto& [name, kernels] : kernels_here()) {
    CAPTURE(name);
    const std::vector<double> left = normal_numbers("left", depth * kernels->rows);
    const std::vector<double> right = normal_numbers("right", depth * DoubleKernels::columns);
    for (const Index rows : {kernels->rows, Index{1}})
      for (const Index columns : {DoubleKernels::columns, Index{3}}) {
        std::vector<double> out(static_cast<std::size_t>(kernels->rows * step), 0.25), expected = out;
        for (const bool add : {false, true}) {
          kernels->multiply(left.data(), right.data(), depth, out.data(), step, rows, columns, add);
          for (Index r = 0; r < rows; ++r)
            for (Index c = 0; c < columns; ++c) {
              double& sum = expected[static_cast<std::size_t>(r * step + c)];
              if (!add) sum = 0.0;
              for (Index k = 0; k < depth; ++k) {
                const volatile double addend = left[static_cast<std::size_t>(k * kernels->rows + r)] *
                                               right[static_cast<std::size_t>(k * DoubleKernels::columns + c)];
                sum += addend;
              }
            }
          CHECK(same_bits(out, expected));
        }
      }
  }
}

TEST_CASE("e^x is right to one unit in the last place, down to the smallest number there is") {
  std::vector<double> x = normal_numbers("x", 20000, 200.0);
  for (double& value : x) value = -std::abs(value);
  for (const double value : {0.0, -0.0, -1e-300, -1e-17, -0.3465, -0.3466, -1.0, -707.9, -708.0, -708.1,
                             -720.5, -744.0, -745.1, -745.2, -746.0, -1e300})
    x.push_back(value);
  for (const auto& [name, kernels] : kernels_here()) {
    CAPTURE(name);
    std::vector<double> to(x.size());
    kernels->exponentials(x.data(), 0.0, static_cast<Index>(x.size()), to.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(x[i]);
      const double unit = std::nextafter(expected, infinity) - expected;
      CAPTURE(x[i]);
      REQUIRE(std::abs(to[i] - expected) <= unit);
    }
    CHECK(to[20000] == 1.0);
  }
}

TEST_CASE("what is not finite stays what e^x makes of it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [name, kernels] : kernels_here()) {
    CAPTURE(name);
    for (const Index place : {Index{0}, Index{5}, Index{8}, Index{10}}) {
      std::vector<double> x(11, -1.0), to(11);
      x[static_cast<std::size_t>(place)] = -infinity;
      CHECK(kernels->largest(x.data(), 11) == -1.0);
      const double sum = kernels->exponentials(x.data(), -1.0, 11, to.data());
      CHECK(sum == 10.0);
      CHECK(to[static_cast<std::size_t>(place)] == 0.0);
      x[static_cast<std::size_t>(place)] = nan;
      CHECK(kernels->largest(x.data(), 11) == -1.0);
      CHECK(std::isnan(kernels->exponentials(x.data(), -1.0, 11, to.data())));
      CHECK(std::isnan(to[static_cast<std::size_t>(place)]));
      CHECK(to[1] == 1.0);
    }
    std::vector<double> blocked(9, -infinity), to(9);
    CHECK(kernels->largest(blocked.data(), 9) == -infinity);
    CHECK(std::isnan(kernels->exponentials(blocked.data(), -infinity, 9, to.data())));
  }
}

TEST_CASE("every instruction set gives the same bits") {
  for (const Index count : {1, 7, 8, 100, 513}) {
    const std::vector<double> x = normal_numbers("scores", count, 30.0);
    std::vector<double> first;
    double first_sum = 0.0;
    for (const auto& [name, kernels] : kernels_here()) {
      CAPTURE(name);
      std::vector<double> to(x.size());
      const double sum = kernels->exponentials(x.data(), kernels->largest(x.data(), count), count, to.data());
      if (first.empty()) {
        first = to;
        first_sum = sum;
      }
      CHECK(same_bits(to, first));
      CHECK(sum == first_sum);
    }
  }
}

TEST_CASE("narrowing rounds to the nearest float, and says where a finite number is beyond them") {
  for (const auto& [name, kernels] : kernels_here()) {
    CAPTURE(name);
    const std::vector<double> x = normal_numbers("wide", 1003);
    std::vector<float> to(x.size());
    CHECK(kernels->narrow(x.data(), 1003, to.data()));
    for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(to[i] == static_cast<float>(x[i]));
    const double largest = std::numeric_limits<float>::max();
    for (const Index place : {Index{0}, Index{13}, Index{16}, Index{18}}) {
      for (const double fits : {largest, -largest, infinity, -infinity, std::nextafter(0x1.ffffffp127, 0.0),
                                std::numeric_limits<double>::quiet_NaN()}) {
        std::vector<double> y(19, 0.5);
        y[static_cast<std::size_t>(place)] = fits;
        CHECK(kernels->narrow(y.data(), 19, to.data()));
      }
      for (const double beyond : {0x1.ffffffp127, -0x1.ffffffp127, 1e300}) {
        std::vector<double> y(19, 0.5);
        y[static_cast<std::size_t>(place)] = beyond;
        CHECK_FALSE(kernels->narrow(y.data(), 19, to.data()));
        CHECK(std::isinf(to[static_cast<std::size_t>(place)]));
      }
    }
  }
}
