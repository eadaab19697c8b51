// What stands beside the present trace in the view Compare, without a window.
#include <cmath>

#include "app/session/comparison_target.h"
#include "core/lessons/head_width_comparison.h"
#include "core/lessons/tensor_change.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

ComputationPtr computed(const std::vector<std::string>& settings, const char* preset = "hand_made") {
  Scenario scenario = preset_scenario(preset);
  for (const std::string& setting : settings) scenario = with_setting(scenario, setting);
  return compute(scenario, nullptr);
}

}  // namespace

TEST_CASE("a pinned result is held as it is and costs nothing") {
  ComparisonTargets sides;
  const ComputationPtr pinned = computed({}), present = computed({"mask.is_causal=true"});
  CHECK_FALSE(sides.of(present, CompareWith::pinned)->computation);
  CHECK_FALSE(sides.of(present, CompareWith::pinned)->why.empty());
  sides.pin(pinned);
  CHECK(sides.of(present, CompareWith::pinned)->computation == pinned);
  CHECK(sides.begun() == 0);
}

TEST_CASE("the three layouts give the same output, whichever of them is there now") {
  for (const char* now : {"packed", "separate", "per_head"}) {
    const ComputationPtr present = computed({"parameters.layout=" + std::string(now)});
    for (const CompareWith with : {CompareWith::packed, CompareWith::separate, CompareWith::per_head}) {
      const ComparisonTarget side = comparison_target(*present, with);
      REQUIRE(side.computation);
      const TensorChange change =
          tensor_change(side.computation->trace->tensors.output, present->trace->tensors.output);
      CHECK(change.cells > 0);
      CHECK(change.largest == 0.0);
    }
  }
}

TEST_CASE("the wide head is the one that the answers compute, and its scores are the sum over the heads'") {
  const ComputationPtr present = computed({"attention.dropout=0.25"});
  const ComparisonTarget side = comparison_target(*present, CompareWith::one_wide_head);
  REQUIRE(side.computation);
  CHECK(side.name == "1 head of 128");
  CHECK_FALSE(side.notes.empty());
  const TraceTensors &wide = side.computation->trace->tensors, &many = present->trace->tensors;
  CHECK(wide.attn_weights->shape().size(1) == 1);
  double sum = 0.0;
  for (Index head = 0; head < 8; ++head) sum += many.scores->at({0, head, 5, 2});
  CHECK(wide.scores->at({0, 0, 5, 2}) == doctest::Approx(sum).epsilon(1e-5));
  const ComputationPtr plain = computed({});
  const HeadWidthComparison answer = compare_head_width(*plain->trace);
  const ComparisonTarget of_plain = comparison_target(*plain, CompareWith::one_wide_head);
  CHECK(tensor_change(of_plain.computation->trace->tensors.output, plain->trace->tensors.output).largest ==
        doctest::Approx(answer.output.difference));
}

TEST_CASE("without the scale scaled_scores are the scores; where there is none the other side has 1/√D") {
  const ComputationPtr scaled = computed({});
  const ComparisonTarget without = comparison_target(*scaled, CompareWith::scale);
  CHECK(without.computation->trace->tensors.scaled_scores->at({0, 3, 5, 2}) ==
        scaled->trace->tensors.scores->at({0, 3, 5, 2}));
  const ComparisonTarget with = comparison_target(*without.computation, CompareWith::scale);
  CHECK(with.computation->trace->tensors.scaled_scores->at({0, 3, 5, 2}) ==
        scaled->trace->tensors.scaled_scores->at({0, 3, 5, 2}));
  // Only what stands behind the scale is computed again.
  CHECK(without.computation->trace->tensors.scores == scaled->trace->tensors.scores);
}

TEST_CASE("the other side of a mask is no mask, painted pairs included, and of none the causal one") {
  Scenario painted = preset_scenario("hand_made");
  painted.mask.valid_lens = {{{9}}};
  painted.edits.push_back({"attn_mask", {3, 4}, 1.0});
  painted.edits.push_back({"query", {0, 1, 2}, 0.5});
  const ComputationPtr masked = compute(painted, nullptr);
  const ComparisonTarget without = comparison_target(*masked, CompareWith::mask);
  REQUIRE(without.computation);
  CHECK_FALSE(without.computation->trace->tensors.mask_bias);
  CHECK(without.computation->trace->tensors.query->at({0, 1, 2}) == 0.5);
  const ComparisonTarget causal = comparison_target(*without.computation, CompareWith::mask);
  REQUIRE(causal.computation->trace->tensors.mask_bias);
  CHECK(causal.computation->trace->tensors.mask_bias->at({0, 0, 1, 2}) == -INFINITY);
}

TEST_CASE("a side is computed once for each present trace, in the background where it is large") {
  ComparisonTargets sides;
  const ComputationPtr small = computed({});
  const ComparisonTargetPtr side = sides.of(small, CompareWith::scale);
  REQUIRE(side);
  CHECK(sides.of(small, CompareWith::scale) == side);
  CHECK(sides.begun() == 1);
  sides.suspend();
  Scenario wide;
  wide.attention.embed_dim = 512;
  wide.inputs.query_length = 256;
  const ComputationPtr large = compute(wide, nullptr);
  CHECK_FALSE(sides.of(large, CompareWith::scale));
  sides.finish();
  const ComparisonTargetPtr arrived = sides.of(large, CompareWith::scale);
  REQUIRE(arrived);
  CHECK(arrived->computation->trace->tensors.scores == large->trace->tensors.scores);
  CHECK(sides.begun() == 2);
}

TEST_CASE("what cannot stand beside is told in a sentence") {
  const ComputationPtr sdpa = computed({"op=scaled_dot_product_attention"}, "random");
  const ComparisonTarget side = comparison_target(*sdpa, CompareWith::packed);
  CHECK_FALSE(side.computation);
  CHECK_CONTAINS(side.why, "no input projection");
}
