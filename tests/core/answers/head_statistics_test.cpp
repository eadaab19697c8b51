#include "core/answers/head_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/reference/reference_backend.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"

using namespace headwise;

namespace {

// A trace with this map as its only head; L×S.
Trace with_weights(std::vector<double> values, Index queries, Index keys) {
  Trace trace;
  trace.options.op = Op::scaled_dot_product_attention;
  trace.options.num_heads = trace.options.num_kv_heads = 1;
  trace.dtype = DType::f64;
  const auto zeros = [](Index rows, const char* axis) {
    return std::make_shared<const Tensor>(Shape{{"N", 1}, {"H", 1}, {axis, rows}, {"D", 1}}, DType::f64);
  };
  trace.tensors.q_heads = zeros(queries, "L");
  trace.tensors.k_heads = trace.tensors.v_heads = zeros(keys, "S");
  trace.tensors.attn_weights = std::make_shared<const Tensor>(
      Shape{{"N", 1}, {"H", 1}, {"L", queries}, {"S", keys}}, std::move(values));
  return trace;
}

}  // namespace

TEST_CASE("a head that looks at the previous token is one token away and sharp") {
  const HeadStatistics head = head_statistics(with_weights({1, 0, 0, 1, 0, 0, 0, 1, 0}, 3, 3), 0, 0);
  CHECK(head.rows == 3);
  CHECK(head.entropy == 0.0);
  CHECK(head.most_entropy == doctest::Approx(std::log(3.0)));
  CHECK(head.distance == doctest::Approx(2.0 / 3.0));
  CHECK(head.back == doctest::Approx(2.0 / 3.0));
  CHECK(head.query == 0);
  CHECK(head.key == 0);
}

TEST_CASE("a row that looks everywhere alike has all the entropy there is") {
  const HeadStatistics head = head_statistics(with_weights({0.25, 0.25, 0.25, 0.25}, 1, 4), 0, 0);
  CHECK(head.entropy == doctest::Approx(head.most_entropy));
  CHECK(head.distance == doctest::Approx(1.5));
  CHECK(head.back == doctest::Approx(-1.5));
}

TEST_CASE("rows of NaN and rows of zeros do not count, and the strongest pair is told") {
  const HeadStatistics head = head_statistics(with_weights({NAN, NAN, 0.3, 0.7, 0.0, 0.0}, 3, 2), 0, 0);
  CHECK(head.rows == 1);
  CHECK(head.query == 1);
  CHECK(head.key == 1);
  CHECK(head.strongest == 0.7);
  CHECK(head_statistics(with_weights({NAN, NAN}, 1, 2), 0, 0).rows == 0);
}

TEST_CASE("the heads made by hand are what their names say") {
  const Scenario welcome = preset_scenario("hand_made");
  const TracePtr trace = reference_forward(make_scenario_inputs(welcome, DType::f32).attention);
  const HeadStatistics previous = head_statistics(*trace, 0, 0);
  CHECK(previous.back == doctest::Approx(0.9).epsilon(0.15));
  CHECK(previous.entropy < 0.5);
  CHECK_THROWS_AS(head_statistics(*trace, 0, 8), Error);
  CHECK_THROWS_AS(head_statistics(*trace, 1, 0), Error);
}

TEST_CASE("the strongest pair is one that the query could have chosen otherwise") {
  Trace trace = with_weights({1, 0, 0, 0.4, 0.6, 0, 0.1, 0.2, 0.7}, 3, 3);
  CHECK(head_statistics(trace, 0, 0).query == 0);
  const double no = -INFINITY;
  const auto masked = [&](std::vector<double> bias) {
    trace.tensors.mask_bias =
        std::make_shared<const Tensor>(Shape{{"N", 1}, {"H", 1}, {"L", 3}, {"S", 3}}, std::move(bias));
    return head_statistics(trace, 0, 0);
  };
  const HeadStatistics causal = masked({0, no, no, 0, 0, no, 0, 0, 0});
  CHECK(causal.rows == 3);
  CHECK(causal.query == 2);
  CHECK(causal.key == 2);
  CHECK(causal.strongest == 0.7);
  trace.tensors.attn_weights = with_weights({1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3).tensors.attn_weights;
  const HeadStatistics none = masked({0, no, no, no, 0, no, no, no, 0});
  CHECK(none.rows == 3);
  CHECK(none.query == -1);
}

TEST_CASE("under a mask the most entropy is that of the keys that it leaves") {
  constexpr double blocked = -std::numeric_limits<double>::infinity();
  Trace trace = with_weights({1, 0, 0, 0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3}, 3, 3);
  trace.tensors.mask_bias =
      std::make_shared<const Tensor>(Shape{{"N", 1}, {"H", 1}, {"L", 3}, {"S", 3}},
                                     std::vector<double>{0, blocked, blocked, 0, 0, blocked, 0, 0, 0});
  const HeadStatistics head = head_statistics(trace, 0, 0);
  CHECK(head.most_entropy == doctest::Approx((std::log(2.0) + std::log(3.0)) / 3.0));
  CHECK(head.entropy == doctest::Approx(head.most_entropy));
}
