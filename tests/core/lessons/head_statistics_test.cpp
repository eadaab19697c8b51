#include "core/lessons/head_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/attention/reference_backend.h"
#include "core/model/heads/head_scores.h"
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

struct Computed {
  Scenario scenario;
  ScenarioInputs inputs;
  TracePtr trace;

  explicit Computed(const Scenario& given)
      : scenario(given),
        inputs(make_scenario_inputs(given, DType::f32)),
        trace(reference_forward(inputs.attention)) {}
  std::optional<HeadHabit> habit(Index head) const {
    const auto scores = traced_habits(*trace, scenario, inputs, 0, head);
    return scores ? head_habit(*scores) : std::nullopt;
  }
};

// The 12 tokens of the sentence under each kind of mask.
std::vector<std::pair<std::string, Scenario>> masked(const Scenario& plain) {
  std::vector<std::pair<std::string, Scenario>> all;
  const auto add = [&](const char* name, auto&& change) {
    all.emplace_back(name, plain);
    change(all.back().second.mask);
  };
  add("padding", [](MaskSpec& mask) { mask.valid_lens.emplace(1, std::vector<std::int64_t>{9}); });
  add("nearly all padding", [](MaskSpec& mask) { mask.valid_lens.emplace(1, std::vector<std::int64_t>{4}); });
  add("causal", [](MaskSpec& mask) { mask.is_causal = true; });
  add("window", [](MaskSpec& mask) { mask.sliding_window = 3; });
  add("causal, window and padding", [](MaskSpec& mask) {
    mask.is_causal = true;
    mask.sliding_window = 4;
    mask.valid_lens.emplace(1, std::vector<std::int64_t>{10});
  });
  add("filled", [](MaskSpec& mask) {
    mask.valid_lens.emplace(1, std::vector<std::int64_t>{9});
    mask.value = -1e9;
  });
  return all;
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

TEST_CASE("a head's name stands under every mask, and its value is over the keys that the mask leaves") {
  Scenario plain = preset_scenario("hand_made");
  plain.attention.temperature = 0.02;  // hard look-ups: weights of 1
  for (const auto& [name, scenario] : masked(plain)) {
    CAPTURE(name);
    const Computed computed(scenario);
    const auto previous = computed.habit(0), itself = computed.habit(3);
    REQUIRE(previous);
    CHECK(previous->score == HeadScore::previous_token);
    CHECK(previous->value == doctest::Approx(1.0).epsilon(1e-6));
    REQUIRE(itself);
    CHECK(itself->score == HeadScore::itself);
    CHECK(itself->value == doctest::Approx(1.0).epsilon(1e-6));
  }
}

TEST_CASE("a head that averages is even under every mask, in its name and in its entropy") {
  for (const auto& [name, scenario] : masked(preset_scenario("hand_made"))) {
    CAPTURE(name);
    const Computed computed(scenario);
    const auto even = computed.habit(4);
    REQUIRE(even);
    CHECK(even->score == HeadScore::entropy);
    CHECK(even->value > 0.999);
    const HeadStatistics head = head_statistics(*computed.trace, 0, 4);
    CHECK(head.entropy == doctest::Approx(head.most_entropy).epsilon(1e-4));
    double entropy = 0.0, most = 0.0;
    for (Index query = 0; query < 12; ++query) {
      const auto row = row_entropy(*computed.trace, 0, 4, query);
      REQUIRE(row);
      CHECK(row->entropy <= row->most + 1e-5);
      entropy += row->entropy / 12.0;
      most += row->most / 12.0;
    }
    CHECK(head.entropy == doctest::Approx(entropy));
    CHECK(head.most_entropy == doctest::Approx(most));
  }
}
