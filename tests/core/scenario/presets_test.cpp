#include "core/scenario/presets.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/reference/reference_backend.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

using namespace headwise;

TEST_CASE("every preset loads, runs, and every number of its output is finite") {
  REQUIRE(presets().size() >= 2);
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const Scenario scenario = preset_scenario(preset.name);
    const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
    CHECK(inputs.notes.empty());
    const TracePtr trace = reference_forward(inputs.attention);
    REQUIRE(trace->tensors.output != nullptr);
    CHECK(static_cast<Index>(inputs.labels.query.size()) == trace->tensors.attn_weights->shape().size(2));
    CHECK(static_cast<Index>(inputs.labels.key.size()) == trace->tensors.attn_weights->shape().size(3));
    for (const float value : trace->tensors.output->values<float>()) REQUIRE(std::isfinite(value));
  }
}

TEST_CASE("the first preset is the welcome scenario: a trained model reads a sentence whose words it knows") {
  CHECK(presets().front().name == "welcome");
  const ScenarioInputs inputs = make_scenario_inputs(preset_scenario("welcome"), DType::f32);
  REQUIRE(inputs.model_input);
  CHECK(inputs.labels.query.front() == "[CLS]");
  CHECK(inputs.labels.query[9] == "it");
  CHECK(inputs.labels.query.back() == "[SEP]");
}

TEST_CASE("a preset on a model has the options that the layer has in the model") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const Scenario scenario = preset_scenario(preset.name);
    if (scenario.parameters.source != ParameterSource::model) continue;
    const auto model = TextModel::open(*scenario.parameters.file);
    const Scenario layer =
        layer_scenario(*scenario.parameters.file, model->layers(), scenario.parameters.layer);
    CHECK(scenario.attention == layer.attention);
    CHECK(scenario.mask == layer.mask);
    CHECK(preset.head < layer.attention.num_heads);
  }
}

TEST_CASE("the hand-made heads read a sentence of words and punctuation") {
  const ScenarioInputs inputs = make_scenario_inputs(preset_scenario("hand_made"), DType::f32);
  const std::vector<std::string> words{"The",    "animal",  "did", "n't", "cross", "the",
                                       "street", "because", "it",  "was", "too",   "tired"};
  CHECK(inputs.labels.query == words);
  CHECK(inputs.labels.key == words);
}

TEST_CASE("a preset that is not there names the nearest one") {
  CHECK_THROWS_WITH_AS(preset_scenario("welcom"), doctest::Contains("welcome"), Error);
}
