// The presets, and the named heads of the program's own models, held against what the models compute.
#include "core/scenario/presets.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/attention/reference_backend.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

using namespace headwise;

namespace {

struct Layer {
  std::vector<std::string> labels;
  TensorPtr weights;  // (1,H,L,L)

  Index at(const std::string& word, Index occurrence = 0) const {
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == word && occurrence-- == 0) return static_cast<Index>(i);
    FAIL("no such word: " << word);
    return 0;
  }
  double weight(Index head, Index from, Index to) const {
    const Index L = static_cast<Index>(labels.size());
    return weights->flat((head * L + from) * L + to);
  }
  // Mean weight on the token `distance` further, of all tokens between the special ones.
  double mean_at(Index head, Index distance) const {
    double sum = 0.0;
    const Index last = static_cast<Index>(labels.size()) - 1;
    for (Index i = 2; i < last - 1; ++i) sum += weight(head, i, i + distance);
    return sum / static_cast<double>(last - 3);
  }
};

Layer layer_of(const char* preset, Index layer, const std::string& text = "") {
  Scenario scenario = preset_scenario(preset);
  scenario.parameters.layer = layer;
  if (!text.empty()) scenario.inputs.text = text;
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  CHECK(inputs.notes.empty());
  return {inputs.model_input->text.labels, reference_forward(inputs.attention)->tensors.attn_weights};
}

}  // namespace

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

TEST_CASE(
    "the welcome scenario's head finds the noun that it stands for, and another noun for another adjective") {
  const Index head = preset_named("welcome").head;
  REQUIRE(trained_head("builtin:sentences", 1, head));
  const Layer tired = layer_of("welcome", 1);
  CHECK(tired.weight(head, tired.at("it"), tired.at("animal")) > 0.9);
  const Layer wide = layer_of("welcome", 1, "the animal did not cross the street because it was too wide .");
  CHECK(wide.weight(head, wide.at("it"), wide.at("street")) > 0.8);
  const Layer first = layer_of("welcome", 0);
  CHECK(trained_head("builtin:sentences", 0, 5)->name == "the deciding adjective");
  CHECK(first.weight(5, first.at("it"), first.at("tired")) > 0.5);
}

TEST_CASE("the heads of sentences that look beside themselves do so in the welcome sentence") {
  const Layer layer = layer_of("welcome", 0);
  CHECK(trained_head("builtin:sentences", 0, 7)->name == "previous word");
  CHECK(layer.mean_at(7, -1) > 0.4);
  CHECK(trained_head("builtin:sentences", 0, 4)->name == "next word");
  CHECK(layer.mean_at(4, +1) > 0.35);
}

TEST_CASE("copycat has a head for the word before, and induction heads for what followed it the last time") {
  const Layer first = layer_of("copycat", 0), second = layer_of("copycat", 1);
  CHECK(trained_head("builtin:copycat", 0, 1)->name == "previous word");
  CHECK(first.mean_at(1, -1) > 0.8);
  for (Index head = 0; head < 4; ++head) {
    CAPTURE(head);
    CHECK(trained_head("builtin:copycat", 1, head)->name == "induction");
    CHECK(second.weight(head, second.at("lamp", 1), second.at("apple")) > 0.7);
  }
}

TEST_CASE("heads of other models have no names") {
  CHECK_FALSE(trained_head("sentences", 1, 7));
  CHECK_FALSE(trained_head("builtin:sentences", 2, 7));
  CHECK_FALSE(trained_head("builtin:sentences", 1, 1));
  CHECK_FALSE(trained_head("builtin:sentences", -1, -7));
}
