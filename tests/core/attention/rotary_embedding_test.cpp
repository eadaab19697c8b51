#include "core/attention/rotary_embedding.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/tensor/error.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

Tensor two_positions() {
  return Tensor(Shape{{"T", 2}, {"D", 6}}, std::vector<double>{0.5, -1.0, 2.0, 0.25, 3.0, -0.75,  //
                                                               1.0, 2.0, -0.5, -1.5, 0.125, 4.0});
}

double dot(const Tensor& a, Index row_a, const Tensor& b, Index row_b) {
  double sum = 0.0;
  for (Index d = 0; d < a.shape().size(1); ++d) sum += a.at({row_a, d}) * b.at({row_b, d});
  return sum;
}

}  // namespace

// Values from complex numbers in Python: (x[j] + i·x[j+3])·exp(iθ).
TEST_CASE("each half-split pair is rotated by its own angle") {
  const Rotation rotation{rotary_inverse_frequencies(6, 10000.0)};
  const Tensor from_zero = rotary_embedding(two_positions(), rotation);
  const Tensor from_seven = rotary_embedding(two_positions(), rotation, 7);
  const std::vector<double> row_1{1.8025087830799844,   1.9920460491481693,  -0.5086165716967028,
                                  0.031017526005686857, 0.21766381893454134, 3.9989135003142406};
  const std::vector<double> row_7{0.21270447749195504, -1.9053530232588896, 2.011082919835328,
                                  0.5169688629452207,  2.52381256371352,    -0.7197537700815546};
  for (Index d = 0; d < 6; ++d) {
    CHECK(from_zero.at({0, d}) == two_positions().at({0, d}));  // position 0 is not rotated
    CHECK(from_zero.at({1, d}) == doctest::Approx(row_1[static_cast<std::size_t>(d)]).epsilon(1e-14));
    CHECK(from_seven.at({0, d}) == doctest::Approx(row_7[static_cast<std::size_t>(d)]).epsilon(1e-14));
  }
}

TEST_CASE("a product of rotated rows depends on the distance of their positions only") {
  const TensorPtr q = random_tensor({{"T", 1}, {"D", 8}}, "q");
  const TensorPtr k = random_tensor({{"T", 1}, {"D", 8}}, "k");
  const Rotation rotation{rotary_inverse_frequencies(8)};
  const auto product = [&](Index query, Index key) {
    return dot(rotary_embedding(*q, rotation, query), 0, rotary_embedding(*k, rotation, key), 0);
  };
  CHECK(product(5, 2) == doctest::Approx(product(105, 102)).epsilon(1e-12));
  CHECK(std::abs(product(5, 2) - product(5, 3)) > 1e-3);
}

TEST_CASE("every batch and head is rotated alike, and rotating backwards undoes it") {
  const TensorPtr x = random_tensor({{"N", 2}, {"H", 3}, {"L", 4}, {"D", 6}}, "x");
  const Rotation rotation{rotary_inverse_frequencies(6)};
  const Tensor out = rotary_embedding(*x, rotation, 3);
  CHECK(out.shape() == x->shape());
  const Tensor again = rotary_embedding_gradient(out, rotation, 3);
  for (Index i = 0; i < x->size(); ++i) CHECK(again.flat(i) == doctest::Approx(x->flat(i)).epsilon(1e-12));
  const Tensor row(Shape{{"T", 1}, {"D", 6}},
                   std::vector<double>{x->at({1, 2, 3, 0}), x->at({1, 2, 3, 1}), x->at({1, 2, 3, 2}),
                                       x->at({1, 2, 3, 3}), x->at({1, 2, 3, 4}), x->at({1, 2, 3, 5})});
  const Tensor rotated_row = rotary_embedding(row, rotation, 6);
  for (Index d = 0; d < 6; ++d) CHECK(out.at({1, 2, 3, d}) == rotated_row.at({0, d}));
}

TEST_CASE("the gradient of the rotation is that of finite differences") {
  const TensorPtr x = random_tensor({{"T", 3}, {"D", 4}}, "x");
  const TensorPtr grad_out = random_tensor({{"T", 3}, {"D", 4}}, "grad_out");
  const Rotation rotation{rotary_inverse_frequencies(4)};
  const Tensor gradient = rotary_embedding_gradient(*grad_out, rotation, 2);
  for (Index i = 0; i < x->size(); ++i) {
    const auto loss = [&](double step) {
      Tensor moved = *x;
      moved.set_flat(i, x->flat(i) + step);
      const Tensor out = rotary_embedding(moved, rotation, 2);
      double sum = 0.0;
      for (Index k = 0; k < out.size(); ++k) sum += out.flat(k) * grad_out->flat(k);
      return sum;
    };
    CHECK(gradient.flat(i) == doctest::Approx((loss(0.5) - loss(-0.5))).epsilon(1e-12));
  }
}

TEST_CASE("f32 is the rounded double, and fewer frequencies leave the columns behind them as they are") {
  const TensorPtr x = random_tensor({{"T", 5}, {"D", 8}}, "x", DType::f32);
  const Rotation rotation{rotary_inverse_frequencies(4)};
  const Tensor out = rotary_embedding(*x, rotation, 1000);
  const Tensor in_double = rotary_embedding(x->converted(DType::f64), rotation, 1000);
  CHECK(out.dtype() == DType::f32);
  CHECK(identical(out, in_double.converted(DType::f32)));
  for (Index t = 0; t < 5; ++t) {
    CHECK(out.at({t, 0}) != x->at({t, 0}));
    for (Index d = 4; d < 8; ++d) CHECK(out.at({t, d}) == x->at({t, d}));
  }
}

// (x[2j] + i·x[2j+1])·exp(iθ) is what halves give once the even columns come first.
TEST_CASE("neighbouring columns are rotated like halves in another order, and a factor makes rows longer") {
  const TensorPtr x = random_tensor({{"T", 4}, {"D", 7}}, "x");
  const Rotation halves{rotary_inverse_frequencies(6)},
      neighbours{halves.inverse_frequencies, RotaryPairs::neighbours},
      longer{halves.inverse_frequencies, RotaryPairs::neighbours, 1.25};
  const auto column = [](Index j) { return j < 3 ? 2 * j : j < 6 ? 2 * (j - 3) + 1 : j; };
  Tensor reordered = *x;
  for (Index t = 0; t < 4; ++t)
    for (Index j = 0; j < 7; ++j) reordered.set_flat(7 * t + j, x->at({t, column(j)}));
  const Tensor as_halves = rotary_embedding(reordered, halves, 5), own = rotary_embedding(*x, neighbours, 5),
               grown = rotary_embedding(*x, longer, 5), back = rotary_embedding_gradient(grown, longer, 5);
  for (Index t = 0; t < 4; ++t)
    for (Index j = 0; j < 7; ++j) {
      const Index at = column(j);
      CHECK(own.at({t, at}) == as_halves.at({t, j}));
      const double times = j < 6 ? 1.25 : 1.0;
      CHECK(grown.at({t, at}) == doctest::Approx(times * own.at({t, at})).epsilon(1e-14));
      CHECK(back.at({t, at}) == doctest::Approx(times * times * x->at({t, at})).epsilon(1e-13));
    }
}

TEST_CASE("an odd width, a base that is no base and too many frequencies are refused in words") {
  CHECK_THROWS_WITH_AS(rotary_inverse_frequencies(7), doctest::Contains("rotated in pairs"), Error);
  CHECK_THROWS_AS(rotary_inverse_frequencies(0), Error);
  CHECK_THROWS_WITH_AS(rotary_inverse_frequencies(8, 0.0), doctest::Contains("above 0"), Error);
  CHECK_THROWS_AS(rotary_inverse_frequencies(8, HUGE_VAL), Error);
  CHECK_THROWS_WITH_AS(rotary_embedding(two_positions(), {rotary_inverse_frequencies(8)}),
                       doctest::Contains("more frequencies"), Error);
}
