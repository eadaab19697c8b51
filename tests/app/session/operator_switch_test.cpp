// From one operator to another and back.
#include "app/session/cell_editing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "app/session/computation.h"
#include "core/scenario/presets.h"

using namespace headwise;

namespace {

Scenario to_sdpa(const Scenario& scenario) {
  return with_operator(scenario, Op::scaled_dot_product_attention, std::nullopt);
}

}  // namespace

TEST_CASE("every preset has a trace as scaled_dot_product_attention, and comes back as it was") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    Scenario scenario = preset_scenario(preset.name);
    scenario.head_gain = std::vector<double>(static_cast<std::size_t>(scenario.attention.num_heads), 0.5);
    scenario.attention.residual = true;
    const Scenario sdpa = to_sdpa(scenario);
    CHECK(sdpa.op == Op::scaled_dot_product_attention);
    const ComputationPtr computed = compute(sdpa, nullptr);
    CHECK(computed->trace->tensors.output);
    CHECK_FALSE(computed->trace->tensors.concat);
    CHECK(with_operator(sdpa, scenario.op, OperatorSwitch{scenario, sdpa}) == scenario);
  }
}

TEST_CASE("what scaled_dot_product_attention has no place for is named") {
  Scenario scenario = preset_scenario("hand_made");
  CHECK(dropped_by_operator(scenario, Op::scaled_dot_product_attention).empty());
  scenario.head_gain = std::vector<double>{1, 0, 1, 1};
  scenario.attention.residual = true;
  scenario.edits = {{"query", {0, 0, 0}, 2.0}, {"attn_mask", {0, 1}, 1.0}};
  CHECK(dropped_by_operator(scenario, Op::scaled_dot_product_attention) ==
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
  const Scenario sdpa = to_sdpa(scenario);
  CHECK(std::ranges::count(blocked(scenario), true) == 2);
  CHECK(blocked(sdpa) == blocked(scenario));
  CHECK(with_operator(sdpa, Op::multi_head_attention, std::nullopt).edits == scenario.edits);
}

TEST_CASE("gains come back only to the heads they belong to") {
  Scenario scenario = preset_scenario("hand_made");
  const auto heads = static_cast<std::size_t>(scenario.attention.num_heads);
  scenario.head_gain = std::vector<double>(heads, 0.0);
  const OperatorSwitch left{scenario, to_sdpa(scenario)};
  Scenario fewer = left.after;
  fewer.attention.num_heads = 1;
  CHECK_FALSE(with_operator(fewer, Op::multi_head_attention, left).head_gain);
  Scenario elsewhere = left.after;
  elsewhere.parameters.seed = 7;
  CHECK_FALSE(with_operator(elsewhere, Op::multi_head_attention, left).head_gain);
  CHECK(with_operator(left.after, Op::multi_head_attention, left).head_gain == scenario.head_gain);
}

TEST_CASE("every preset has a trace as multi_head_latent_attention, and comes back as it was") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    Scenario scenario = preset_scenario(preset.name);
    if (is_latent(scenario.op)) continue;
    scenario.head_gain = std::vector<double>(static_cast<std::size_t>(scenario.attention.num_heads), 0.5);
    const Scenario latent = with_operator(scenario, Op::multi_head_latent_attention, std::nullopt);
    const ComputationPtr computed = compute(latent, nullptr);
    CHECK(computed->trace->tensors.compressed_kv);
    CHECK(computed->trace->tensors.k_rot);
    CHECK(with_operator(latent, scenario.op, OperatorSwitch{scenario, latent}) == scenario);
    // What was changed in between stays.
    Scenario changed = latent;
    changed.attention.softcap = 3.0;
    changed.inputs.text = "another text";
    Scenario expected = scenario;
    expected.attention.softcap = 3.0;
    expected.inputs.text = "another text";
    CHECK(with_operator(changed, scenario.op, OperatorSwitch{scenario, latent}) == expected);
  }
}

TEST_CASE("each operator comes back as it was, on any way through the others and however often") {
  constexpr std::array others{Op::scaled_dot_product_attention, Op::multi_head_latent_attention};
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const Scenario scenario = preset_scenario(preset.name);
    if (scenario.op != Op::multi_head_attention) continue;
    std::vector<OperatorSwitch> made;
    Scenario now = scenario;
    const auto go = [&](Op op) { now = with_operator(now, op, made); };
    for (const Op first : others) {
      const Op second = first == others[0] ? others[1] : others[0];
      for (const Op op : {first, second, first, second, first, scenario.op, second, scenario.op}) go(op);
      CHECK(now == scenario);
    }
    CHECK(made.size() <= 6);
    // What is set of latents is there again when they are.
    go(Op::multi_head_latent_attention);
    now.attention.kv_lora_rank = 3;
    for (const Op op : {others[0], scenario.op}) go(op);
    CHECK(now == scenario);
    go(others[1]);
    CHECK(now.attention.kv_lora_rank == 3);
  }
}

TEST_CASE("latents become plain heads, and what multi_head_latent_attention has no place for is named") {
  const Scenario latent = preset_scenario("latent");
  const Scenario plain = with_operator(latent, Op::multi_head_attention, std::nullopt);
  CHECK_FALSE(plain.attention.kv_lora_rank);
  CHECK(compute(plain, nullptr)->trace->tensors.k_heads);
  CHECK(dropped_by_operator(latent, Op::multi_head_attention) ==
        std::vector<std::string>{"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim"});
  Scenario scenario = preset_scenario("hand_made");
  scenario.attention.clip_qkv = 8.0;
  scenario.attention.num_kv_heads = 4;
  CHECK(dropped_by_operator(scenario, Op::multi_head_latent_attention) ==
        std::vector<std::string>{"the hand-made heads", "clip_qkv", "num_kv_heads"});
  scenario.attention.rotary_inverse_frequencies = std::vector<double>{1.0, 0.5};
  scenario.attention.add_bias_kv = true;
  scenario.head_gain = std::vector<double>{1, 0, 1, 1};  // which stay: there are heads
  CHECK(dropped_by_operator(scenario, Op::multi_head_latent_attention) ==
        std::vector<std::string>{"the hand-made heads", "add_bias_kv", "clip_qkv", "num_kv_heads",
                                 "rotary_inverse_frequencies"});
  CHECK(dropped_by_operator(latent, Op::scaled_dot_product_attention) ==
        dropped_by_operator(latent, Op::multi_head_attention));
}
