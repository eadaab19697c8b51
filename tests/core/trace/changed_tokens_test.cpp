#include "core/trace/changed_tokens.h"

#include <doctest/doctest.h>

#include <limits>

using namespace headwise;

TEST_CASE("tokens that differ in a bit are found, neighbours as one run, batch by batch") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor before(Shape{{"N", 2}, {"L", 5}, {"E", 3}}, dtype);
    CHECK(changed_tokens(before, before).empty());
    Tensor x = before;
    CHECK(changed_tokens(before, x).empty());  // another array with the same numbers
    x.set_flat((0 * 5 + 3) * 3 + 2, 1.0);
    x.set_flat((0 * 5 + 4) * 3 + 0, 1.0);
    x.set_flat((1 * 5 + 0) * 3 + 1, -0.0);  // another bit, the same number
    x.set_flat((1 * 5 + 2) * 3 + 1, std::numeric_limits<double>::quiet_NaN());
    const std::vector<TokenRange> changed = changed_tokens(before, x);
    REQUIRE(changed.size() == 3);
    CHECK(changed[0].n == 0);
    CHECK(changed[0].first == 3);
    CHECK(changed[0].count == 2);
    CHECK(changed[1].n == 1);
    CHECK(changed[1].first == 0);
    CHECK(changed[1].count == 1);
    CHECK(changed[2].first == 2);
    CHECK(changed_tokens(x, x).empty());
    CHECK(changed_tokens(x, Tensor(x)).empty());  // NaN is the same NaN
  }
}
