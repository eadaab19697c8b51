// From multi_head_attention to scaled_dot_product_attention and back.
#include "app/session/cell_editing.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "app/session/computation.h"
#include "core/scenario/presets.h"

using namespace headwise;

TEST_CASE("every preset has a trace as scaled_dot_product_attention, and comes back as it was") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    Scenario scenario = preset_scenario(preset.name);
    scenario.head_gain = std::vector<double>(static_cast<std::size_t>(scenario.attention.num_heads), 0.5);
    scenario.attention.residual = true;
    const Scenario sdpa = as_scaled_dot_product_attention(scenario);
    CHECK(sdpa.op == Op::scaled_dot_product_attention);
    const ComputationPtr computed = compute(sdpa, nullptr);
    CHECK(computed->trace->tensors.output);
    CHECK_FALSE(computed->trace->tensors.concat);
    CHECK(as_multi_head_attention(sdpa, OperatorSwitch{scenario, sdpa}) == scenario);
  }
}

TEST_CASE("what scaled_dot_product_attention has no place for is named") {
  Scenario scenario = preset_scenario("hand_made");
  CHECK(dropped_by_switch(scenario).empty());
  scenario.head_gain = std::vector<double>{1, 0, 1, 1};
  scenario.attention.residual = true;
  scenario.edits = {{"query", {0, 0, 0}, 2.0}, {"attn_mask", {0, 1}, 1.0}};
  CHECK(dropped_by_switch(scenario) ==
        std::vector<std::string>{"heads.gain", "residual", "1 cell set by hand"});
}

TEST_CASE("painted pairs stay blocked with the other operator") {
  Scenario scenario = preset_scenario("hand_made");
  scenario.edits = {{"attn_mask", {2, 1}, 1.0}, {"attn_mask", {3, 0}, 1.0}};
  const auto blocked = [](const Scenario& each) {
    std::vector<bool> pairs;
    const TensorPtr bias = compute(each, nullptr)->trace->tensors.mask_bias;
    REQUIRE(bias);
    const Index L = bias->shape().size(2), S = bias->shape().size(3);
    for (Index i = 0; i < L; ++i)
      for (Index j = 0; j < S; ++j) pairs.push_back(bias->at({0, 0, i, j}) != 0.0);
    return pairs;
  };
  const Scenario sdpa = as_scaled_dot_product_attention(scenario);
  CHECK(std::ranges::count(blocked(scenario), true) == 2);
  CHECK(blocked(sdpa) == blocked(scenario));
  CHECK(as_multi_head_attention(sdpa, std::nullopt).edits == scenario.edits);
}

TEST_CASE("gains come back only to the heads they belong to") {
  Scenario scenario = preset_scenario("hand_made");
  const auto heads = static_cast<std::size_t>(scenario.attention.num_heads);
  scenario.head_gain = std::vector<double>(heads, 0.0);
  const OperatorSwitch left{scenario, as_scaled_dot_product_attention(scenario)};
  Scenario fewer = left.after;
  fewer.attention.num_heads = 1;
  CHECK_FALSE(as_multi_head_attention(fewer, left).head_gain);
  Scenario elsewhere = left.after;
  elsewhere.parameters.seed = 7;
  CHECK_FALSE(as_multi_head_attention(elsewhere, left).head_gain);
  CHECK(as_multi_head_attention(left.after, left).head_gain == scenario.head_gain);
}
