#include "core/tensor/random.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace headwise;

TEST_CASE("the same seed, tensor and index give the same number; another of each gives another") {
  const CounterRandom a(1, "query");
  CHECK(a.bits(5) == CounterRandom(1, "query").bits(5));
  CHECK(a.bits(5) != a.bits(6));
  CHECK(a.bits(5) != CounterRandom(2, "query").bits(5));
  CHECK(a.bits(5) != CounterRandom(1, "key").bits(5));
}

TEST_CASE("uniform numbers fill [0,1), normal numbers have mean 0 and deviation 1") {
  const CounterRandom random(7, "check");
  double sum = 0, normal_sum = 0, normal_squares = 0;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i) {
    const double u = random.uniform(i), z = random.normal(i);
    REQUIRE(u >= 0.0);
    REQUIRE(u < 1.0);
    sum += u, normal_sum += z, normal_squares += z * z;
  }
  CHECK(std::abs(sum / count - 0.5) < 0.01);
  CHECK(std::abs(normal_sum / count) < 0.03);
  CHECK(std::abs(normal_squares / count - 1.0) < 0.04);
}
