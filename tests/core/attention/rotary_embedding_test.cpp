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
TEST_CASE("each half-split pair is turned by its own angle") {
  const std::vector<double> frequencies = rotary_inverse_frequencies(6, 10000.0);
  const Tensor from_zero = rotary_embedding(two_positions(), frequencies);
  const Tensor from_seven = rotary_embedding(two_positions(), frequencies, 7);
  const std::vector<double> row_1{1.8025087830799844,   1.9920460491481693,  -0.5086165716967028,
                                  0.031017526005686857, 0.21766381893454134, 3.9989135003142406};
  const std::vector<double> row_7{0.21270447749195504, -1.9053530232588896, 2.011082919835328,
                                  0.5169688629452207,  2.52381256371352,    -0.7197537700815546};
  for (Index d = 0; d < 6; ++d) {
    CHECK(from_zero.at({0, d}) == two_positions().at({0, d}));  // position 0 is not turned
    CHECK(from_zero.at({1, d}) == doctest::Approx(row_1[static_cast<std::size_t>(d)]).epsilon(1e-14));
    CHECK(from_seven.at({0, d}) == doctest::Approx(row_7[static_cast<std::size_t>(d)]).epsilon(1e-14));
  }
}

TEST_CASE("a product of turned rows depends on the distance of their positions only") {
  const TensorPtr q = random_tensor({{"T", 1}, {"D", 8}}, "q");
  const TensorPtr k = random_tensor({{"T", 1}, {"D", 8}}, "k");
  const std::vector<double> frequencies = rotary_inverse_frequencies(8);
  const auto product = [&](Index query, Index key) {
    return dot(rotary_embedding(*q, frequencies, query), 0, rotary_embedding(*k, frequencies, key), 0);
  };
  CHECK(product(5, 2) == doctest::Approx(product(105, 102)).epsilon(1e-12));
  CHECK(std::abs(product(5, 2) - product(5, 3)) > 1e-3);
}

TEST_CASE("every batch and head is turned alike, and turning backwards undoes it") {
  const TensorPtr x = random_tensor({{"N", 2}, {"H", 3}, {"L", 4}, {"D", 6}}, "x");
  const std::vector<double> frequencies = rotary_inverse_frequencies(6);
  const Tensor out = rotary_embedding(*x, frequencies, 3);
  CHECK(out.shape() == x->shape());
  const Tensor again = rotary_embedding_gradient(out, frequencies, 3);
  for (Index i = 0; i < x->size(); ++i) CHECK(again.flat(i) == doctest::Approx(x->flat(i)).epsilon(1e-12));
  const Tensor row(Shape{{"T", 1}, {"D", 6}},
                   std::vector<double>{x->at({1, 2, 3, 0}), x->at({1, 2, 3, 1}), x->at({1, 2, 3, 2}),
                                       x->at({1, 2, 3, 3}), x->at({1, 2, 3, 4}), x->at({1, 2, 3, 5})});
  const Tensor rotated_row = rotary_embedding(row, frequencies, 6);
  for (Index d = 0; d < 6; ++d) CHECK(out.at({1, 2, 3, d}) == rotated_row.at({0, d}));
}

TEST_CASE("the gradient of the rotation is that of finite differences") {
  const TensorPtr x = random_tensor({{"T", 3}, {"D", 4}}, "x");
  const TensorPtr grad_out = random_tensor({{"T", 3}, {"D", 4}}, "grad_out");
  const std::vector<double> frequencies = rotary_inverse_frequencies(4);
  const Tensor gradient = rotary_embedding_gradient(*grad_out, frequencies, 2);
  for (Index i = 0; i < x->size(); ++i) {
    const auto loss = [&](double step) {
      Tensor moved = *x;
      moved.set_flat(i, x->flat(i) + step);
      const Tensor out = rotary_embedding(moved, frequencies, 2);
      double sum = 0.0;
      for (Index k = 0; k < out.size(); ++k) sum += out.flat(k) * grad_out->flat(k);
      return sum;
    };
    CHECK(gradient.flat(i) == doctest::Approx((loss(0.5) - loss(-0.5))).epsilon(1e-12));
  }
}

TEST_CASE("f32 is the rounded double, and fewer frequencies leave the columns behind them as they are") {
  const TensorPtr x = random_tensor({{"T", 5}, {"D", 8}}, "x", DType::f32);
  const std::vector<double> frequencies = rotary_inverse_frequencies(4);
  const Tensor out = rotary_embedding(*x, frequencies, 1000);
  const Tensor in_double = rotary_embedding(x->converted(DType::f64), frequencies, 1000);
  CHECK(out.dtype() == DType::f32);
  CHECK(identical(out, in_double.converted(DType::f32)));
  for (Index t = 0; t < 5; ++t) {
    CHECK(out.at({t, 0}) != x->at({t, 0}));
    for (Index d = 4; d < 8; ++d) CHECK(out.at({t, d}) == x->at({t, d}));
  }
}

// Values from the formula of rope_scaling "llama3", written out in Python: D = 128, base 500000.
TEST_CASE("Llama 3.1 keeps its fast frequencies, divides its slow ones and goes over between") {
  const std::vector<double> plain = rotary_inverse_frequencies(128, 500000.0);
  const std::vector<double> scaled = scaled_inverse_frequencies(plain, {});
  CHECK(scaled[28] == plain[28]);
  CHECK(scaled[29] == doctest::Approx(0.002166570763503359).epsilon(1e-13));
  CHECK(scaled[32] == doctest::Approx(0.0005248461609929547).epsilon(1e-13));
  CHECK(scaled[34] == doctest::Approx(0.0001785078127679964).epsilon(1e-13));
  CHECK(scaled[63] == doctest::Approx(3.068925988914511e-07).epsilon(1e-13));
}

TEST_CASE("an odd width, a base that is no base and too many frequencies are refused in words") {
  CHECK_THROWS_WITH_AS(rotary_inverse_frequencies(7), doctest::Contains("rotated in pairs"), Error);
  CHECK_THROWS_AS(rotary_inverse_frequencies(0), Error);
  CHECK_THROWS_WITH_AS(rotary_inverse_frequencies(8, 0.0), doctest::Contains("above 0"), Error);
  CHECK_THROWS_AS(rotary_inverse_frequencies(8, HUGE_VAL), Error);
  CHECK_THROWS_WITH_AS(rotary_embedding(two_positions(), rotary_inverse_frequencies(8)),
                       doctest::Contains("more frequencies"), Error);
}
