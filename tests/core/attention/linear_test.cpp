// The affine map over more rows than are widened to double at a time, forward and backward.
#include "core/attention/linear.h"

#include <doctest/doctest.h>

#include "tests/core/attention/first_difference.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr Index rows = 1200, in = 3, out = 2;  // three blocks of at most 512 rows

struct Arrays {
  TensorPtr x = random_tensor({{"rows", rows}, {"E", in}}, "x");
  TensorPtr dy = random_tensor({{"rows", rows}, {"O", out}}, "dy");
  TensorPtr weight =
      random_tensor({{"O", 1 + out}, {"E", in}}, "weight");  // its first row belongs to another map
  TensorPtr bias = random_tensor({{"O", 1 + out}}, "bias");
};

void check_equal_tensors(const Tensor& got, const Tensor& expected) {
  const auto difference = first_difference("cell", got, expected, 1e-13);
  CHECK_MESSAGE(!difference, difference.value_or(""));
}

}  // namespace

TEST_CASE("an affine map of many rows is that of each row") {
  const Arrays a;
  Tensor y({{"rows", rows}, {"O", out}}, DType::f64);
  Tensor dx({{"rows", rows}, {"E", in}}, DType::f64);
  for (Index r = 0; r < rows; ++r) {
    for (Index o = 0; o < out; ++o) {
      double sum = a.bias->at({1 + o});
      for (Index e = 0; e < in; ++e) {
        sum += a.x->at({r, e}) * a.weight->at({1 + o, e});
        dx.set_flat(r * in + e, dx.at({r, e}) + a.dy->at({r, o}) * a.weight->at({1 + o, e}));
      }
      y.set_flat(r * out + o, sum);
    }
  }
  check_equal_tensors(linear(*a.x, {a.weight.get(), 1, a.bias.get(), 1}, y.shape()), y);
  check_equal_tensors(linear_input_gradient(*a.dy, {a.weight.get(), 1}, dx.shape()), dx);
}

TEST_CASE("the gradients of weight and bias are sums over all rows, in their rows and no others") {
  const Arrays a;
  Tensor dw(a.weight->shape(), DType::f64), db(a.bias->shape(), DType::f64);
  for (Index r = 0; r < rows; ++r) {
    for (Index o = 0; o < out; ++o) {
      db.set_flat(1 + o, db.at({1 + o}) + a.dy->at({r, o}));
      for (Index e = 0; e < in; ++e)
        dw.set_flat((1 + o) * in + e, dw.at({1 + o, e}) + a.dy->at({r, o}) * a.x->at({r, e}));
    }
  }
  Tensor got_weight(dw.shape(), DType::f64), got_bias(db.shape(), DType::f64);
  linear_weight_gradient(*a.dy, *a.x, got_weight, 1);
  linear_bias_gradient(*a.dy, got_bias, 1);
  check_equal_tensors(got_weight, dw);
  check_equal_tensors(got_bias, db);
}
