#include "core/model/layers/layer_tensors.h"

#include "core/model/layers/layer_attention.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

struct Opened {
  AttentionLayers layers;
  std::vector<std::string> notes;
};

Opened opened(const Sizes& sizes, const std::string& config) {
  const TemporaryFolder folder;
  write_model(folder, sizes, config);
  const ModelFiles files(folder.file(""));
  Opened model{find_attention_layers(files), {}};
  model.notes = model_notes(files, model.layers);
  return model;
}

Sizes llama_layer(const std::string& name) {
  Sizes sizes;
  for (const char* stem : {"q_proj", "k_proj", "v_proj", "o_proj"})
    sizes[name + ".self_attn." + stem + ".weight"] = {12, 12};
  return sizes;
}

}  // namespace

TEST_CASE("attention that is no layer here is told of, and that of a layer is not") {
  Sizes sizes;
  add_layer(sizes, "transformer.layer.0");
  CHECK(opened(sizes, R"({"n_heads":2})").notes.empty());
  sizes["blocks.0.attn.Wqkv.weight"] = {36, 12};
  const Opened one = opened(sizes, R"({"n_heads":2})");
  CHECK(one.layers.layers.size() == 1);
  REQUIRE(one.notes.size() == 1);
  CHECK_CONTAINS(one.notes[0], "blocks.0.attn.Wqkv.weight");
  sizes["blocks.1.attn.Wqkv.weight"] = {36, 12};
  sizes["blocks.1.attn.q_norm.weight"] = {12};
  CHECK_CONTAINS(opened(sizes, "").notes.at(0), "1 more matrix");
}

TEST_CASE("sizes that are none and that no layer needs are told of and not refused") {
  Sizes sizes;
  add_layer(sizes, "transformer.layer.0");
  for (const char* config :
       {R"({"n_heads":2,"head_dim":0})", R"({"n_heads":2,"num_hidden_layers":{"vision":2}})"}) {
    const Opened model = opened(sizes, config);
    REQUIRE(model.layers.layers.size() == 1);
    CHECK(layer_problem(model.layers.layers[0]) == "");
    REQUIRE(model.notes.size() == 1);
    CHECK_CONTAINS(model.notes[0], "is not a size");
  }
}

TEST_CASE("heads as a list are those of the layer's block") {
  Sizes sizes;
  add_layer(sizes, "encoder.block.0.1");
  add_layer(sizes, "encoder.block.1.0");
  const Opened model = opened(sizes, R"({"num_attention_heads":[2,4]})");
  REQUIRE(model.layers.layers.size() == 2);
  CHECK(model.layers.layers[0].num_heads == 2);
  CHECK(model.layers.layers[1].num_heads == 4);
}

TEST_CASE("what stands between the parts of a model is not its language model") {
  Sizes sizes = llama_layer("model.layers.0");
  sizes.merge(llama_layer("model.connector.layers.0"));
  const Opened model = opened(
      sizes,
      R"({"model_type":"llava","text_config":{"model_type":"llama","num_attention_heads":2},"vision_config":{"model_type":"clip_vision_model"}})");
  REQUIRE(model.layers.layers.size() == 2);
  CHECK_FALSE(model.layers.layers[0].num_heads.has_value());
  CHECK(model.layers.layers[1].num_heads == 2);
  CHECK(layer_attention(model.layers.layers[1]).warnings.empty());
}

TEST_CASE("a part without a model_type is told of") {
  Sizes sizes;
  sizes["visual.blocks.0.attn.qkv.weight"] = {36, 12};
  sizes["visual.blocks.0.attn.proj.weight"] = {12, 12};
  const Opened model =
      opened(sizes, R"({"model_type":"qwen2_vl","num_attention_heads":2,"vision_config":{"num_heads":2}})");
  REQUIRE(model.layers.layers.size() == 1);
  const std::vector<std::string> warnings = layer_attention(model.layers.layers[0]).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK_CONTAINS(warnings[0], "vision_config");
}

TEST_CASE("biases that the model leaves out are told of") {
  Sizes sizes = llama_layer("model.layers.0");
  const auto warnings = [&](const std::string& flag) {
    const Opened model =
        opened(sizes, R"({"model_type":"llama","num_attention_heads":2,"hidden_size":12)" + flag + "}");
    return layer_attention(model.layers.layers.at(0)).warnings;
  };
  CHECK(warnings(R"(,"attention_bias":false)").empty());
  for (const char* stem : {"q_proj", "k_proj", "v_proj"})
    sizes[std::string("model.layers.0.self_attn.") + stem + ".bias"] = {12};
  CHECK(warnings(R"(,"attention_bias":true)").empty());
  REQUIRE(warnings(R"(,"attention_bias":false)").size() == 1);
  CHECK_CONTAINS(warnings(R"(,"attention_bias":false)")[0], "attention_bias = false");
}
