// Layers of other programs' model files, tests/golden/layers: each is what transformers computes, or says
// that it is not, or is refused. Never a fourth.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/attention/reference_backend.h"
#include "core/files/array_files.h"
#include "core/model/layers/attention_layers.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"

using namespace headwise;

namespace {

namespace fs = std::filesystem;

const fs::path folder = HEADWISE_SOURCE_DIR "/tests/golden/layers";
constexpr double largest_difference = 1e-5;

using Arrays = std::map<std::string, TensorPtr>;

Arrays arrays_of(const fs::path& file) {
  Arrays arrays;
  for (NamedTensor& array : read_array_file(file.string())) arrays[array.name] = array.tensor;
  return arrays;
}

// The array under which the expected values of a layer stand: that of its queries.
std::string matrix_of(const AttentionLayer& layer) {
  if (layer.layout == AttentionLayout::latent)
    return layer_array(layer, layer.q_lora_rank > 0 ? "self_attn.q_a_proj." : "self_attn.q_proj.", "weight");
  return layer_array(layer, layer.family->qkv.empty() ? layer.family->q : layer.family->qkv, "weight");
}

double difference(const Tensor& ours, const Tensor& theirs) {
  if (ours.size() != theirs.size()) return INFINITY;
  double largest = 0.0;
  for (Index i = 0; i < ours.size(); ++i)
    largest = std::max(largest, std::abs(ours.flat(i) - theirs.flat(i)));
  return largest;
}

struct Outcome {
  std::string word;  // "equal", "told", "refused", or what must not be: "silent", "warned though equal"
  std::string why;
};

// One layer, given what went into the model's own.
Outcome outcome_of(const fs::path& model, const AttentionLayers& layers, Index number, const Arrays& expected) {
  const AttentionLayer& layer = layers.layers[static_cast<std::size_t>(number)];
  const std::string matrix = matrix_of(layer);
  Scenario scenario;
  scenario.parameters.source = ParameterSource::model;
  scenario.parameters.file = model.string();
  scenario.parameters.layer = number;
  GivenArrays given;
  for (const char* name : {"query", "key", "value"})
    if (const auto at = expected.find(matrix + ":" + name); at != expected.end()) given[name] = at->second;
  try {
    const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32, given);
    const TracePtr trace = reference_forward(inputs.attention);
    const double weights = difference(*trace->tensors.attn_weights, *expected.at(matrix + ":attn_weights"));
    const Tensor& output = *expected.at(matrix + ":output");
    double largest = 0.0;
    for (Index i = 0; i < output.size(); ++i) largest = std::max(largest, std::abs(output.flat(i)));
    const bool equal = weights <= largest_difference &&
                       difference(*trace->tensors.output, output) <= 10.0 * largest_difference * largest;
    const std::string why =
        fmt::format("weights differ by {:.2g}; {}", weights, fmt::join(inputs.not_computed, " | "));
    if (equal) return {inputs.not_computed.empty() ? "equal" : "warned though equal", why};
    return {inputs.not_computed.empty() ? "silent" : "told", why};
  } catch (const Error& error) {
    if (error.status() != ExitStatus::input) return {"silent", error.what()};
    return {"refused", error.what()};
  }
}

}  // namespace

TEST_CASE("a layer of another program's file is equal to what that program computes, told or refused") {
  std::ifstream file(folder / "outcomes.json");
  const auto wanted = nlohmann::json::parse(file);
  std::set<std::string> seen;
  for (const fs::directory_entry& model : fs::directory_iterator(folder)) {
    if (!model.is_directory()) continue;
    const std::string name = model.path().filename().string();
    CAPTURE(name);
    seen.insert(name);
    REQUIRE(wanted.contains(name));
    const Arrays expected = arrays_of(model.path() / "expected.safetensors");
    const AttentionLayers layers = find_attention_layers(ModelFiles(model.path().string()));
    // One word for each layer that is recognised and that there are values of.
    std::vector<std::string> words;
    for (std::size_t i = 0; i < layers.layers.size(); ++i) {
      if (!expected.contains(matrix_of(layers.layers[i]) + ":attn_weights")) continue;
      const Outcome outcome = outcome_of(model.path(), layers, static_cast<Index>(i), expected);
      CAPTURE(layers.layers[i].name);
      CAPTURE(outcome.why);
      CHECK(outcome.word != "silent");
      CHECK(outcome.word != "warned though equal");
      words.push_back(outcome.word);
    }
    CHECK(nlohmann::json(words) == wanted[name]);
  }
  for (const auto& [name, words] : wanted.items()) CHECK_MESSAGE(seen.contains(name), name);
}
