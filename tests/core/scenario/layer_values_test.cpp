#include "core/scenario/layer_scenario.h"

#include <algorithm>
#include <string>

#include "core/attention/reference_backend.h"
#include "core/model/layers/attention_layers.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

const std::string layers_folder = HEADWISE_SOURCE_DIR "/tests/golden/layers/";
const std::string models_folder = HEADWISE_SOURCE_DIR "/tests/golden/models/";

Scenario written(const std::string& model, const std::string& rest, int layer = 0) {
  return scenario_from_json(R"({"headwise":1,"parameters":{"source":"model","file":")" + model +
                                R"(","layer":)" + std::to_string(layer) + "}" + rest + "}",
                            "test");
}

bool any_contains(const std::vector<std::string>& sentences, const std::string& words) {
  return std::ranges::any_of(
      sentences, [&](const std::string& sentence) { return sentence.find(words) != std::string::npos; });
}

// The number of the layer whose name ends so.
std::int64_t layer_named(const std::string& model, const std::string& ending, bool is_cross) {
  const AttentionLayers layers = find_attention_layers(ModelFiles(model));
  for (std::size_t i = 0; i < layers.layers.size(); ++i)
    if (layers.layers[i].name.ends_with(ending) && layers.layers[i].is_cross == is_cross)
      return static_cast<std::int64_t>(i);
  return -1;
}

}  // namespace

TEST_CASE("what a scenario does not write comes from the layer that it names") {
  const Scenario gpt2 = with_layer_values(written(models_folder + "gpt2", "", 1));
  CHECK(gpt2.mask.is_causal);
  CHECK(gpt2.attention.num_heads != Scenario{}.attention.num_heads);
  CHECK(gpt2.origin.layer != nullptr);
  const Scenario qwen = with_layer_values(written(models_folder + "qwen2", ""));
  CHECK(qwen.mask.is_causal);
  CHECK((qwen.attention.rotary_base || qwen.attention.rotary_inverse_frequencies));
  CHECK(qwen.attention.num_kv_heads.has_value());
  const Scenario gemma = with_layer_values(written(layers_folder + "gemma2", "", 0));
  CHECK(gemma.attention.softcap > 0.0);
  CHECK(gemma.attention.scale.has_value());
  CHECK(gemma.mask.sliding_window.has_value());
  CHECK_FALSE(with_layer_values(written(layers_folder + "gemma2", "", 1)).mask.sliding_window.has_value());
  CHECK(with_layer_values(written(layers_folder + "olmo_clip", "")).attention.clip_qkv.has_value());
  const Scenario falcon = with_layer_values(written(layers_folder + "falcon_rw", ""));
  CHECK(falcon.mask.alibi);
  CHECK(falcon.mask.alibi_scale == doctest::Approx(0.5));  // 1/√4
}

TEST_CASE("the scenario form of a text on a causal model sees no future") {
  const Scenario scenario =
      written(models_folder + "gpt2", R"(,"inputs":{"source":"text","text":"the dog ran away"})", 1);
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  const TracePtr trace = reference_forward(inputs.attention);
  const Tensor& weights = *trace->tensors.attn_weights;
  REQUIRE(weights.shape().size(3) > 2);
  for (Index s = 1; s < weights.shape().size(3); ++s) CHECK(weights.at({0, 0, 0, s}) == 0.0);
}

TEST_CASE("another layer replaces what nobody wrote: BART's layers are not all its first one") {
  const std::string bart = layers_folder + "bart";
  const std::int64_t transformer = layer_named(bart, "encoder.layers.1", false),
                     decoder = layer_named(bart, "decoder.layers.1", false),
                     cross = layer_named(bart, "decoder.layers.1", true);
  REQUIRE(transformer >= 0);
  REQUIRE(decoder >= 0);
  REQUIRE(cross >= 0);
  Scenario scenario = opened_model_scenario(bart, find_attention_layers(ModelFiles(bart)));
  const auto go_to = [&](std::int64_t layer) {
    scenario = with_layer_values(with_setting(scenario, "parameters.layer=" + std::to_string(layer)));
  };
  go_to(decoder);
  CHECK(scenario.mask.is_causal);
  CHECK(scenario.inputs.self_attention);
  go_to(cross);
  CHECK_FALSE(scenario.mask.is_causal);
  CHECK_FALSE(scenario.inputs.self_attention);
  go_to(transformer);
  CHECK_FALSE(scenario.mask.is_causal);
  CHECK(scenario.inputs.self_attention);
  // As the window does it: the member alone is changed.
  scenario.parameters.layer = decoder;
  CHECK(with_layer_values(scenario).mask.is_causal);
}

TEST_CASE("what somebody wrote against the layer is obeyed and told") {
  const Scenario scenario = written(models_folder + "gpt2", R"(,"mask":{"is_causal":false})");
  CHECK_FALSE(with_layer_values(scenario).mask.is_causal);
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  CHECK_FALSE(inputs.attention.options.is_causal);
  CHECK(any_contains(inputs.notes, "mask.is_causal = false (the layer has true)"));
  CHECK(make_scenario_inputs(written(models_folder + "gpt2", ""), DType::f32).notes.empty());
  CHECK(make_scenario_inputs(written(models_folder + "gpt2", R"(,"mask":{"is_causal":true})"), DType::f32)
            .notes.empty());
}

TEST_CASE("an edit of what the layer decides stays with another layer, in JSON too") {
  const std::string gpt2 = models_folder + "gpt2";
  const Scenario opened = opened_model_scenario(gpt2, find_attention_layers(ModelFiles(gpt2)));
  REQUIRE(opened.mask.is_causal);
  CHECK_LACKS(scenario_to_json(opened), "is_causal");
  Scenario edited = opened;
  edited.mask.is_causal = false;
  const std::string json = scenario_to_json(edited);
  CHECK_CONTAINS(json, "is_causal");
  CHECK_FALSE(with_layer_values(scenario_from_json(json, "test")).mask.is_causal);
  edited.parameters.layer = 1;
  CHECK_FALSE(with_layer_values(edited).mask.is_causal);
  CHECK_FALSE(with_layer_values(with_setting(edited, "inputs.batch=2")).mask.is_causal);
  CHECK(with_layer_values(with_setting(opened, "inputs.batch=2")) == [&] {
    Scenario two = opened;
    two.inputs.batch = 2;
    return two;
  }());
}

TEST_CASE("other parameters in the place of a model's keep the layer's sizes") {
  const std::string gpt2 = models_folder + "gpt2";
  const Scenario opened = opened_model_scenario(gpt2, find_attention_layers(ModelFiles(gpt2)));
  const Scenario random = with_layer_values(with_setting(opened, "parameters.source=random"));
  CHECK(random.attention == opened.attention);
  CHECK(random.mask == opened.mask);
}

TEST_CASE(
    "a number that a model rounds beyond some length is told beyond it alone, one that it scales is scaled") {
  const std::string rw = layers_folder + "falcon_rw";
  const auto notes = [&](const std::string& length) {
    return make_scenario_inputs(written(rw, R"(,"inputs":{"query_length":)" + length + "}"), DType::f32).not_computed;
  };
  CHECK(notes("257").empty());
  CHECK(any_contains(notes("258"), "bfloat16"));
  const auto dynamic = [&](const std::string& length) {
    return make_scenario_inputs(
        written(layers_folder + "llama_dynamic", R"(,"inputs":{"query_length":)" + length + "}"), DType::f32);
  };
  CHECK(dynamic("4000").not_computed.empty());
  CHECK(dynamic("4000").attention.options.rotary_inverse_frequencies[1] <
        dynamic("6").attention.options.rotary_inverse_frequencies[1]);
}
