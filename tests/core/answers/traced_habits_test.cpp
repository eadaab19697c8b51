#include <doctest/doctest.h>

#include <string>

#include "core/answers/head_statistics.h"
#include "core/model/heads/head_scores.h"
#include "core/reference/reference_backend.h"
#include "core/scenario/presets.h"

using namespace headwise;

namespace {

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
