// How RoPE's frequencies are stretched: the numbers of transformers, and scenarios that ask for it.
#include "core/attention/rotary_scaling.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/attention/reference_backend.h"
#include "core/model/config/model_config.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "tests/checks.h"

namespace headwise::test {
namespace {

const char* const yarn = R"({"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 8})";

Scenario rotated(const std::string& attention) {
  return scenario_from_json(R"({"headwise": 1, "inputs": {"query_length": 12}, "attention": {"embed_dim": 16,
    "num_heads": 2, )" + attention +
                                "}}",
                            "test");
}

AttentionInputs inputs_of(const std::string& attention) {
  return make_scenario_inputs(rotated(attention), DType::f64).attention;
}

std::string refused(const std::string& attention) {
  return refusal_line([&] { inputs_of(attention); }, ExitStatus::usage);
}

}  // namespace

// tests/golden/make_rotary_scaling_golden.py: transformers computes them in f32.
TEST_CASE("frequencies and factor are those of transformers, for every type and length of text") {
  std::ifstream file(HEADWISE_SOURCE_DIR "/tests/golden/rotary_scalings.json");
  const auto golden = nlohmann::json::parse(file);
  REQUIRE(golden["cases"].size() >= 100);
  for (const auto& given : golden["cases"]) {
    CAPTURE(given.dump());
    const ModelRotary rotary = read_model_rotary(given["config"], "config.json");
    REQUIRE(rotary.unsupported == "");
    const Rotation rotation = model_rotation(rotary, given["head_dim"], given["tokens"]);
    const auto expected = given["inverse_frequencies"].get<std::vector<double>>();
    REQUIRE(rotation.inverse_frequencies.size() == expected.size());
    for (std::size_t pair = 0; pair < expected.size(); ++pair)
      CHECK(rotation.inverse_frequencies[pair] == doctest::Approx(expected[pair]).epsilon(2e-6));
    CHECK(rotation.factor == doctest::Approx(given["factor"].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("rotary settings of config.json that are no object are refused by their key") {
  for (const std::string key : {"rope_parameters", "rope_scaling"})
    for (const nlohmann::json& value : {nlohmann::json{1, 2}, nlohmann::json("yarn"), nlohmann::json(4)}) {
      const nlohmann::json config{{"model_type", "llama"}, {key, value}};
      const std::string line = refusal_line([&] { read_model_rotary(config, "config.json"); });
      CHECK_CONTAINS(line, "config.json: " + key + ": wrong type: got ");
      CHECK_CONTAINS(line, "expected an object, or null");
    }
  CHECK(read_model_rotary({{"rope_scaling", nullptr}}, "config.json").unsupported == "");
}

TEST_CASE("a scenario's rotary_scaling is that of its base's frequencies, with its factor") {
  const AttentionInputs scaled = inputs_of(fmt::format(R"("rotary_base": 100, "rotary_scaling": {})", yarn));
  RotaryScaling scaling;
  scaling.kind = RotaryScalingKind::yarn;
  scaling.factor = 4.0;
  scaling.original_max_position_embeddings = 8.0;
  const Rotation expected = scaled_rotation(scaling, 8, 100.0, 12);
  CHECK(rotation_of(scaled.options) == expected);
  CHECK(expected.factor > 1.1);
  CHECK(identical(
      *reference_forward(scaled)->tensors.scores,
      *reference_forward(
           inputs_of(fmt::format(
               R"("rotary_inverse_frequencies": [{:.17g}, {:.17g}, {:.17g}, {:.17g}], "rotary_factor": {:.17g})",
               expected.inverse_frequencies[0], expected.inverse_frequencies[1],
               expected.inverse_frequencies[2], expected.inverse_frequencies[3], expected.factor)))
           ->tensors.scores));
  // 12 positions are more than the 8 of training: of the dynamic type that depends on the text.
  const auto base_of = [](int length) {
    const std::string dynamic =
        R"("rotary_base": 100, "rotary_scaling": {"type": "dynamic", "factor": 2, "original_max_position_embeddings": )";
    return inputs_of(dynamic + std::to_string(length) + "}").options.rotary_inverse_frequencies[1];
  };
  CHECK(base_of(12) == rotary_inverse_frequencies(8, 100.0)[1]);
  CHECK(base_of(11) < base_of(12));
}

TEST_CASE("a rotary_scaling is written as it was read, and refused with its remedy") {
  const Scenario scenario = rotated(fmt::format(R"("rotary_base": 100, "rotary_scaling": {})", yarn));
  const Scenario again = scenario_from_json(scenario_to_json(scenario), "again");
  CHECK(again.attention.rotary_scaling == scenario.attention.rotary_scaling);
  CHECK_CONTAINS(refused(fmt::format(R"("rotary_scaling": {})", yarn)),
                 "set the base, or rotary_scaling to null");
  CHECK_CONTAINS(refused(R"("rotary_base": 100, "rotary_scaling": {"rope_type": "yarn"})"), "has no factor");
  CHECK_CONTAINS(refused(R"("rotary_base": 100, "rotary_scaling": {"rope_type": "yarn", "factor": 4})"),
                 "original_max_position_embeddings");
  CHECK_CONTAINS(refused(R"("rotary_base": 100, "rotary_scaling": {"rope_type": "xpos"})"),
                 "linear, dynamic, llama3, yarn, longrope or default");
  CHECK_CONTAINS(refused(R"("rotary_base": 100, "rotary_scaling": {"rope_type": "linear", "factr": 4})"),
                 "factor");
  CHECK_CONTAINS(refused(R"("rotary_base": 100, "rotary_scaling": {"rope_type": "longrope",
    "original_max_position_embeddings": 8, "short_factor": [1, 1], "long_factor": [1, 1]})"),
                 "has 2 numbers in short_factor, but 8 columns are rotated");
}

TEST_CASE("the rope_parameters of a config.json are taken as they are, with the base and the old names") {
  const AttentionSpec llama = rotated(R"("rotary_scaling": {"factor": 8.0, "high_freq_factor": 4.0,
    "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_theta": 500000.0,
    "rope_type": "llama3"})")
                                  .attention;
  CHECK(llama.rotary_base == 500000.0);
  REQUIRE(llama.rotary_scaling);
  CHECK(llama.rotary_scaling->kind == RotaryScalingKind::llama3);
  const Scenario plain = rotated(R"("rotary_scaling": {"rope_theta": 1000000, "rope_type": "default"})");
  CHECK(plain.attention.rotary_base == 1e6);
  CHECK_FALSE(plain.attention.rotary_scaling);
  CHECK(plain.origin.written.contains("attention.rotary_base"));
  const AttentionSpec phi =
      rotated(R"("rotary_base": 10000, "rotary_scaling": {"type": "su", "rope_theta": 10000,
    "partial_rotary_factor": 1.0, "original_max_position_embeddings": 8, "factor": 32,
    "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4]})")
          .attention;
  REQUIRE(phi.rotary_scaling);
  CHECK(phi.rotary_scaling->kind == RotaryScalingKind::longrope);
  CHECK_CONTAINS(
      refused(R"("rotary_base": 100, "rotary_scaling": {"rope_type": "linear", "factor": 4,
    "rope_theta": 10000})"),
      "its rope_theta differs from attention.rotary_base: got 10000 beside 100; expected one base; leave one "
      "of the two out");
  CHECK_CONTAINS(
      refused(R"("rotary_scaling": {"rope_type": "default", "rope_theta": 10000, "partial_rotary_factor": 0.5})"),
      "write the frequencies of the rotated pairs in attention.rotary_inverse_frequencies");
}

TEST_CASE("a share of each head's columns is stretched as a head of that width is, at every length") {
  const auto frequencies = [](const std::string& share, int length) {
    const std::string scaling = R"({"rope_type": "longrope", "original_max_position_embeddings": 4, "factor": 32,
      "short_factor": [1, 2], "long_factor": [3, 5])" +
                                share + "}";
    const Scenario scenario = rotated(R"("head_dim": )" + std::string(share.empty() ? "4" : "8") +
                                      R"(, "rotary_base": 10000, "rotary_scaling": )" + scaling);
    Scenario sized = scenario;
    sized.inputs.query_length = length;
    return make_scenario_inputs(sized, DType::f64).attention.options.rotary_inverse_frequencies;
  };
  const std::string half = R"(, "partial_rotary_factor": 0.5)";
  for (const int length : {4, 6}) {
    CAPTURE(length);
    CHECK(frequencies(half, length).size() == 2);
    CHECK(frequencies(half, length) == frequencies("", length));
  }
  CHECK(frequencies(half, 4) != frequencies(half, 6));
  const Scenario written = rotated(
      R"("rotary_base": 10000, "rotary_scaling": {"rope_type": "linear", "factor": 4, "rotary_pct": 0.25})");
  CHECK(written.attention.rotary_scaling->partial_rotary_factor == 0.25);
  CHECK_CONTAINS(
      refused(R"("head_dim": 8, "rotary_base": 10000, "rotary_scaling": {"rope_type": "linear",
    "factor": 4, "partial_rotary_factor": 0.4})"),
      "has a partial_rotary_factor of 0.4, which of 8 columns leaves 3.2: choose a share that leaves "
      "an even number, at most 1");
}

}  // namespace headwise::test
