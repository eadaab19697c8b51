#include "core/model/layers/layer_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/attention/reference_backend.h"
#include "core/model/layers/layer_attention.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr Index E = 6, H = 2, D = 3;

// Number (row, column) of W_q, W_k or W_v as the families are made to have it below.
double weight_at(Index which, Index row, Index column) {
  return 100.0 * static_cast<double>(which) + 10.0 * static_cast<double>(row) + static_cast<double>(column);
}

Tensor filled(const std::vector<Index>& sizes, const std::function<double(Index, Index)>& number) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) axes.push_back({"axis" + std::to_string(i), sizes[i]});
  Tensor tensor(Shape(axes), DType::f32);
  const Index columns = sizes.size() > 1 ? sizes[1] : 1;
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, number(i / columns, i % columns));
  return tensor;
}

void add(std::vector<NamedTensor>& arrays, const std::string& name, Tensor tensor) {
  arrays.push_back({name, std::make_shared<const Tensor>(std::move(tensor)), "f32"});
}

double in_proj_number(const std::map<std::string, TensorPtr>& parameters, Index which, Index row, Index column) {
  if (const auto packed = parameters.find("in_proj_weight"); packed != parameters.end())
    return packed->second->at({which * E + row, column});
  constexpr std::array names{"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  return parameters.at(names[static_cast<std::size_t>(which)])->at({row, column});
}

}  // namespace

TEST_CASE("the same layer under the names and layouts of every family has the same parameters") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> separate{
      {"encoder.layer.0.",
       {"attention.self.query.", "attention.self.key.", "attention.self.value.", "attention.output.dense."}},
      {"layers.0.", {"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj.", "self_attn.o_proj."}},
      {"block.0.", {"SelfAttention.q.", "SelfAttention.k.", "SelfAttention.v.", "SelfAttention.o."}}};
  const std::vector<std::pair<std::string, std::string>> packed{
      {"in_proj_", "out_proj."},
      {"blocks.0.attn.qkv.", "blocks.0.attn.proj."},
      {"h.0.attn.c_attn.", "h.0.attn.c_proj."},
      {"l.0.self_attn.qkv_proj.", "l.0.self_attn.o_proj."}};
  const auto out_number = [](Index r, Index c) { return 1000.0 + weight_at(0, r, c); };
  std::vector<std::vector<NamedTensor>> models;
  for (const auto& [prefix, names] : separate) {
    std::vector<NamedTensor> arrays;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto which = static_cast<Index>(i);
      add(arrays, prefix + names[i] + "weight",
          filled({E, E}, [&](Index r, Index c) { return weight_at(which, r, c); }));
      add(arrays, prefix + names[i] + "bias",
          filled({E}, [&](Index r, Index) { return weight_at(which, r, 9); }));
    }
    add(arrays, prefix + names[3] + "weight", filled({E, E}, out_number));
    models.push_back(arrays);
  }
  const auto of_rows = [](Index r, Index c) { return weight_at(r / E, r % E, c); };
  for (const auto& [qkv, out] : packed) {
    std::vector<NamedTensor> arrays;
    add(arrays, qkv + "weight", filled({3 * E, E}, of_rows));
    add(arrays, qkv + "bias", filled({3 * E}, [&](Index r, Index) { return of_rows(r, 9); }));
    add(arrays, out + "weight", filled({E, E}, out_number));
    models.push_back(arrays);
  }
  {  // GPT-2: everything the other way round
    std::vector<NamedTensor> arrays;
    add(arrays, "h.0.attn.c_attn.weight", filled({E, 3 * E}, [&](Index r, Index c) { return of_rows(c, r); }));
    add(arrays, "h.0.attn.c_attn.bias", filled({3 * E}, [&](Index r, Index) { return of_rows(r, 9); }));
    add(arrays, "h.0.attn.c_proj.weight", filled({E, E}, [&](Index r, Index c) { return out_number(c, r); }));
    models.push_back(arrays);
  }
  {  // for each head its rows of q, k and v
    const auto of_heads = [](Index r, Index c) { return weight_at(r / D % 3, r / (3 * D) * D + r % D, c); };
    std::vector<NamedTensor> arrays;
    add(arrays, "h.0.self_attention.query_key_value.weight", filled({3 * E, E}, of_heads));
    add(arrays, "h.0.self_attention.query_key_value.bias",
        filled({3 * E}, [&](Index r, Index) { return of_heads(r, 9); }));
    add(arrays, "h.0.self_attention.dense.weight", filled({E, E}, out_number));
    models.push_back(arrays);
  }
  for (const std::vector<NamedTensor>& arrays : models) {
    CAPTURE(arrays[0].name);
    const TemporaryFolder folder;
    write_safetensors(folder.file("model.safetensors"), arrays);
    folder.with_file("config.json", R"({"num_attention_heads":2})");
    const ModelFiles files(folder.file(""));
    const AttentionLayers layers = find_attention_layers(files);
    REQUIRE(layers.layers.size() == 1);
    const auto parameters = read_layer_parameters(files, layers.layers[0]);
    for (Index which = 0; which < 3; ++which) {
      for (Index r = 0; r < E; ++r) {
        for (Index c = 0; c < E; ++c)
          CHECK(in_proj_number(parameters, which, r, c) == weight_at(which, r, c));
        CHECK(parameters.at("in_proj_bias")->flat(which * E + r) == weight_at(which, r, 9));
      }
    }
    for (Index r = 0; r < E; ++r)
      for (Index c = 0; c < E; ++c) CHECK(parameters.at("out_proj.weight")->at({r, c}) == out_number(r, c));
    for (Index r = 0; r < E; ++r)
      CHECK(parameters.at("out_proj.bias")->flat(r) == 0.0);  // the family has none
  }
}

TEST_CASE("a window of 0 in config.json is told, and is none") {
  const std::string prefix = "model.layers.0.self_attn.";
  for (const auto& [window, told] : {std::pair("0", true), {"null", false}, {"3", false}}) {
    const TemporaryFolder folder;
    write_model(folder,
                {{prefix + "q_proj.weight", {8, 12}},
                 {prefix + "k_proj.weight", {8, 12}},
                 {prefix + "v_proj.weight", {8, 12}},
                 {prefix + "o_proj.weight", {12, 8}}},
                fmt::format(R"({{"num_attention_heads":4,"sliding_window":{}}})", window));
    const ModelFiles files(folder.file(""));
    const LayerAttention attention = layer_attention(find_attention_layers(files).layers[0]);
    CHECK(attention.sliding_window.has_value() == (std::string(window) == "3"));
    CHECK(told == std::ranges::any_of(attention.warnings, [](const std::string& warning) {
            return warning.starts_with("config.json: sliding_window = 0");
          }));
  }
}

TEST_CASE("the scenario of a layer has its sizes and computes with its parameters") {
  const TemporaryFolder folder;
  const std::string prefix = "model.layers.1.self_attn.";
  write_model(folder,
              {{prefix + "q_proj.weight", {8, 12}},
               {prefix + "k_proj.weight", {4, 12}},
               {prefix + "v_proj.weight", {4, 12}},
               {prefix + "o_proj.weight", {12, 8}}},
              R"({"num_attention_heads":4,"num_key_value_heads":2,"sliding_window":3})");
  const ModelFiles files(folder.file(""));
  const AttentionLayers layers = find_attention_layers(files);
  const Scenario scenario = layer_scenario(folder.file(""), layers, 0);
  CHECK(scenario.attention.embed_dim == 12);
  CHECK(scenario.attention.num_heads == 4);
  CHECK(scenario.attention.num_kv_heads == 2);
  CHECK(scenario.attention.head_dim == 2);
  CHECK_FALSE(scenario.attention.bias);
  CHECK(scenario.mask.is_causal);
  CHECK(scenario.mask.sliding_window == 3);
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  const TraceTensors& t = inputs.attention.tensors;
  for (Index i = 0; i < 96; ++i)
    CHECK(t.q_proj_weight->flat(i) == 20000.0 + static_cast<double>(i));  // the third by name
  CHECK(reference_forward(inputs.attention)->tensors.output->shape().sizes() == std::vector<Index>{1, 10, 12});

  Scenario other = scenario;
  other.attention.num_heads = 2;  // config.json says 4
  const ScenarioInputs cut_anew = make_scenario_inputs(other, DType::f32);
  CHECK(cut_anew.attention.options.head_dim == 4);
  CHECK(cut_anew.attention.options.num_kv_heads == 1);
  CHECK_CONTAINS(cut_anew.head_count_note, "split differently here, as 2 (1 for k and v) of 4");
  other = scenario;
  other.parameters.layer = 1;
  CHECK_THROWS_WITH(make_scenario_inputs(other, DType::f32), doctest::Contains("no such layer"));
}

TEST_CASE("a layer that is not there, and a model without heads, are told") {
  const TemporaryFolder folder;
  write_model(folder, {{"in_proj_weight", {384, 128}}, {"out_proj.weight", {128, 128}}}, "");
  const AttentionLayers layers = find_attention_layers(ModelFiles(folder.file("")));
  CHECK(layer_scenario(folder.file(""), layers, 0).attention.num_heads == 2);  // of 64, for nothing says it
  CHECK_THROWS_WITH(layer_scenario(folder.file(""), layers, 1), doctest::Contains("0 to 0"));
  const TemporaryFolder other;
  write_model(other, {{"embedding", {4, 4}}}, "");
  CHECK_THROWS_WITH(layer_scenario(other.file(""), find_attention_layers(ModelFiles(other.file(""))), 0),
                    doctest::Contains("no attention layer was recognised"));
}
