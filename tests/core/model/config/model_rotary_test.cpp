#include "core/model/config/model_config.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/reference/reference_backend.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

ModelRotary read(const std::string& json) {
  return read_model_rotary(nlohmann::json::parse(json), "config.json");
}

// One layer of Llama: two heads of 6, one key/value head.
Scenario llama_layer(const TemporaryFolder& folder, const std::string& config) {
  write_model(folder,
              {{"layers.0.self_attn.q_proj.weight", {12, 12}},
               {"layers.0.self_attn.k_proj.weight", {6, 12}},
               {"layers.0.self_attn.v_proj.weight", {6, 12}},
               {"layers.0.self_attn.o_proj.weight", {12, 12}}},
              R"({"num_attention_heads": 2, "num_key_value_heads": 1)" + config + "}");
  const std::string path = folder.file("");
  return layer_scenario(path, find_attention_layers(ModelFiles(path)), 0);
}

}  // namespace

TEST_CASE(
    "rope_theta is the base, 10000 where the file does not say it, and stands in rope_parameters of newer "
    "files") {
  CHECK(read("{}").base == 10000.0);
  CHECK(read(R"({"rope_theta": 500000})").base == 500000.0);
  CHECK(read(R"({"rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}})").base == 1e6);
  CHECK(read(R"({"rotary_emb_base": 5000, "rotary_pct": 0.25})").share == 0.25);
  CHECK(read(R"({"model_type": "gpt_neox"})").share == 0.25);
  CHECK(read(R"({"model_type": "gpt_neox", "rope_parameters": {"partial_rotary_factor": 0.5}})").share == 0.5);
  CHECK(is_plain_rotary(read(R"({"rope_scaling": null})"), 64));
  CHECK(rotary_width(read(R"({"rotary_pct": 0.25})"), 64) == 16);
  CHECK(rotary_width(ModelRotary{}, 5) == 0);
}

TEST_CASE("frequencies are scaled as rope_scaling has it") {
  const std::vector<double> linear =
      rotary_inverse_frequencies(read(R"({"rope_scaling": {"type": "linear", "factor": 4}})"), 8);
  CHECK(linear == std::vector<double>{0.25, 0.025, 0.0025, 0.00025});
  const ModelRotary llama3 = read(R"({"rope_theta": 500000, "rope_scaling": {"rope_type": "llama3", "factor": 8,
      "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192}})");
  CHECK_FALSE(is_plain_rotary(llama3, 128));
  CHECK(rotary_inverse_frequencies(llama3, 128)[34] == doctest::Approx(0.0001785078127679964).epsilon(1e-13));
  CHECK(rotary_text(llama3) == "base 500000, frequencies scaled as in Llama 3.1");
  // Where it is not written, the longest text of training is meant.
  const ModelRotary unwritten =
      read(R"({"max_position_embeddings": 1024, "rope_theta": 500000, "rope_scaling": {"rope_type":
      "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}})");
  CHECK(unwritten.llama3->original_max_position_embeddings == 1024);
}

TEST_CASE("what is not understood is named, and what cannot be is refused") {
  CHECK(read(R"({"rope_scaling": {"type": "yarn", "factor": 4}})").unsupported == "rope_scaling yarn");
  CHECK(read(R"({"rope_scaling": {"type": "dynamic", "factor": 4}})").unsupported.empty());
  CHECK_FALSE(read(R"({"model_type": "llama4"})").unsupported.empty());
  for (const char* wrong :
       {R"({"rope_theta": 0})", R"({"rope_theta": "big"})", R"({"rope_theta": 1e300})",
        R"({"rotary_pct": 1.5})", R"({"rope_scaling": {"type": "linear", "factor": -1}})",
        R"({"rope_scaling": {"type": "llama3", "low_freq_factor": 4, "high_freq_factor": 4}})"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(read(wrong), doctest::Contains("config.json"), Error);
  }
}

TEST_CASE("a layer of Llama has its rotary positions, from a base or from frequencies of its own") {
  const TemporaryFolder folder;
  const Scenario plain = llama_layer(folder, R"(, "rope_theta": 500000)");
  CHECK(plain.attention.rotary_base == 500000.0);
  CHECK_FALSE(plain.attention.rotary_inverse_frequencies);
  const TracePtr trace = reference_forward(make_scenario_inputs(plain, DType::f32).attention);
  CHECK(trace->tensors.q_rotary);
  CHECK(trace->tensors.k_rotary->shape().size(1) == 1);
  const Scenario half = llama_layer(folder, R"(, "partial_rotary_factor": 0.7)");
  CHECK_FALSE(half.attention.rotary_base);
  CHECK(half.attention.rotary_inverse_frequencies == rotary_inverse_frequencies(4, 10000.0));
}
