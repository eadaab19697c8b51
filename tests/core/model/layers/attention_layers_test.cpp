#include "core/model/layers/attention_layers.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/layers/layer_tensors.h"
#include "core/scenario/layer_scenario.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

AttentionLayers layers_of(const Sizes& sizes, const std::string& config) {
  const TemporaryFolder folder;
  write_model(folder, sizes, config);
  return find_attention_layers(ModelFiles(folder.file("")));
}

// With embed_dim 12 and, where the family has them, biases.
Sizes one_layer(const std::string& prefix, const std::vector<std::string>& matrices,
                std::vector<Index> sizes = {12, 12}) {
  Sizes arrays;
  for (const std::string& name : matrices) arrays[prefix + name + "weight"] = sizes;
  return arrays;
}

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

TEST_CASE("every family is recognised by its names, under whatever prefix") {
  struct Case {
    std::string family, prefix;
    Sizes sizes;
    bool is_causal;
  };
  const std::vector<Index> packed{36, 12}, inverted{12, 36};
  const auto with = [](Sizes sizes, const Sizes& more) {
    sizes.insert(more.begin(), more.end());
    return sizes;
  };
  const std::vector<Case> cases{
      {"torch.nn.MultiheadAttention",
       "layers.0.self_attn",
       {{"layers.0.self_attn.in_proj_weight", packed}, {"layers.0.self_attn.out_proj.weight", {12, 12}}},
       false},
      {"torch.nn.MultiheadAttention", "", {{"in_proj_weight", packed}, {"out_proj.weight", {12, 12}}}, false},
      {"torch.nn.MultiheadAttention",
       "a",
       {{"a.q_proj_weight", {12, 12}},
        {"a.k_proj_weight", {12, 5}},
        {"a.v_proj_weight", {12, 5}},
        {"a.out_proj.weight", {12, 12}}},
       false},
      {"BERT", "bert.encoder.layer.3",
       one_layer("bert.encoder.layer.3.", {"attention.self.query.", "attention.self.key.",
                                           "attention.self.value.", "attention.output.dense."}),
       false},
      {"ViT", "vit.encoder.layer.0",
       one_layer("vit.encoder.layer.0.", {"attention.attention.query.", "attention.attention.key.",
                                          "attention.attention.value.", "attention.output.dense."}),
       false},
      {"timm ViT", "blocks.0",
       with({{"blocks.0.attn.qkv.weight", packed}}, one_layer("blocks.0.", {"attn.proj."})), false},
      {"DistilBERT", "transformer.layer.0",
       one_layer("transformer.layer.0.",
                 {"attention.q_lin.", "attention.k_lin.", "attention.v_lin.", "attention.out_lin."}),
       false},
      {"GPT-2", "transformer.h.0",
       with({{"transformer.h.0.attn.c_attn.weight", inverted}},
            one_layer("transformer.h.0.", {"attn.c_proj."})),
       true},
      {"nanoGPT", "_orig_mod.transformer.h.0",
       with({{"_orig_mod.transformer.h.0.attn.c_attn.weight", packed}},
            one_layer("_orig_mod.transformer.h.0.", {"attn.c_proj."})),
       true},
      {"Llama", "model.layers.0",
       one_layer("model.layers.0.",
                 {"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj.", "self_attn.o_proj."}),
       true},
      {"OPT, BART", "model.decoder.layers.0",
       one_layer("model.decoder.layers.0.",
                 {"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj.", "self_attn.out_proj."}),
       true},
      {"OPT, BART", "model.encoder.layers.0",
       one_layer("model.encoder.layers.0.",
                 {"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj.", "self_attn.out_proj."}),
       false},
      {"BART, cross-attention", "decoder.layers.0",
       one_layer("decoder.layers.0.", {"encoder_attn.q_proj.", "encoder_attn.k_proj.", "encoder_attn.v_proj.",
                                       "encoder_attn.out_proj."}),
       false},
      {"Phi-3", "model.layers.0",
       with({{"model.layers.0.self_attn.qkv_proj.weight", packed}},
            one_layer("model.layers.0.", {"self_attn.o_proj."})),
       true},
      {"BERT, cross-attention", "bert.encoder.layer.3",
       one_layer("bert.encoder.layer.3.", {"crossattention.self.query.", "crossattention.self.key.",
                                           "crossattention.self.value.", "crossattention.output.dense."}),
       false},
      {"Q-Former, cross-attention", "layer.3",
       one_layer("layer.3.", {"crossattention.attention.query.", "crossattention.attention.key.",
                              "crossattention.attention.value.", "crossattention.output.dense."}),
       false},
      {"GPT-2, cross-attention", "h.0",
       with({{"h.0.crossattention.c_attn.weight", {12, 24}}},
            one_layer("h.0.", {"crossattention.q_attn.", "crossattention.c_proj."})),
       false},
      {"ALBERT", "albert_layers.0",
       one_layer("albert_layers.0.",
                 {"attention.query.", "attention.key.", "attention.value.", "attention.dense."}),
       false},
      {"GPT-Neo", "transformer.h.0",
       one_layer("transformer.h.0.", {"attn.attention.q_proj.", "attn.attention.k_proj.",
                                      "attn.attention.v_proj.", "attn.attention.out_proj."}),
       true},
      {"wav2vec 2.0", "encoder.layers.0",
       one_layer("encoder.layers.0.",
                 {"attention.q_proj.", "attention.k_proj.", "attention.v_proj.", "attention.out_proj."}),
       false},
      {"GPT-J", "transformer.h.0",
       one_layer("transformer.h.0.", {"attn.q_proj.", "attn.k_proj.", "attn.v_proj.", "attn.out_proj."}), true},
      {"Phi", "model.layers.0",
       one_layer("model.layers.0.",
                 {"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj.", "self_attn.dense."}),
       true},
      {"Persimmon", "model.layers.0",
       with({{"model.layers.0.self_attn.query_key_value.weight", packed}},
            one_layer("model.layers.0.", {"self_attn.dense."})),
       true},
      {"T5", "encoder.block.0.layer.0",
       one_layer("encoder.block.0.layer.0.",
                 {"SelfAttention.q.", "SelfAttention.k.", "SelfAttention.v.", "SelfAttention.o."}),
       false},
      {"T5, cross-attention", "decoder.block.0.layer.1",
       one_layer("decoder.block.0.layer.1.",
                 {"EncDecAttention.q.", "EncDecAttention.k.", "EncDecAttention.v.", "EncDecAttention.o."}),
       false},
      {"BLOOM", "h.0",
       with({{"h.0.self_attention.query_key_value.weight", packed}},
            one_layer("h.0.", {"self_attention.dense."})),
       true},
      {"GPT-NeoX", "gpt_neox.layers.0",
       with({{"gpt_neox.layers.0.attention.query_key_value.weight", packed}},
            one_layer("gpt_neox.layers.0.", {"attention.dense."})),
       true},
  };
  for (const Case& one : cases) {
    CAPTURE(one.prefix);
    CAPTURE(one.family);
    const AttentionLayers found = layers_of(one.sizes, R"({"num_attention_heads":3})");
    REQUIRE(found.layers.size() == 1);
    const AttentionLayer& layer = found.layers[0];
    CHECK(layer.family->name == one.family);
    CHECK(layer.name == one.prefix);
    CHECK(layer.query_width == 12);
    CHECK(layer.q_rows == 12);
    CHECK(layer.num_heads == 3);
    CHECK(layer_attention(layer).is_causal == one.is_causal);
    CHECK_FALSE(layer.has_bias);
    CHECK(layer_problem(layer) == "");
  }
}

TEST_CASE("a layer has the number of its block, whatever other numbers are in its name") {
  const auto number = [](const std::string& prefix, const std::vector<std::string>& stems) {
    return layers_of(one_layer(prefix, stems), "").layers.at(0).number;
  };
  const std::vector<std::string> llama{"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj.",
                                       "self_attn.o_proj."};
  CHECK(number("0.model.layers.3.", llama) == 3);
  CHECK(number("tower.2.h.5.", llama) == 5);
  CHECK(number("parts.4.", llama) == 4);
  CHECK(number("encoder.block.2.layer.0.",
               {"SelfAttention.q.", "SelfAttention.k.", "SelfAttention.v.", "SelfAttention.o."}) == 2);
}

TEST_CASE("layers stand in the order that people count in") {
  Sizes sizes;
  for (int i = 0; i < 12; ++i)
    sizes.merge(one_layer("h." + std::to_string(i) + ".",
                          {"attention.q_lin.", "attention.k_lin.", "attention.v_lin.", "attention.out_lin."}));
  const AttentionLayers found = layers_of(sizes, "");
  REQUIRE(found.layers.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) CHECK(found.layers[i].name == "h." + std::to_string(i));
}

TEST_CASE("the number of heads is config.json's under each family's key, or not known") {
  const Sizes sizes = one_layer("layers.0.", {"self_attn.q_proj.", "self_attn.out_proj."});
  Sizes grouped = sizes;
  grouped["layers.0.self_attn.k_proj.weight"] = grouped["layers.0.self_attn.v_proj.weight"] = {4, 12};
  for (const char* key : {"num_attention_heads", "n_head", "n_heads", "num_heads"}) {
    const AttentionLayers found =
        layers_of(grouped, std::string("{\"") + key + R"(":6,"num_key_value_heads":2})");
    CHECK(found.layers.at(0).num_heads == 6);
    CHECK(found.layers.at(0).num_kv_heads == 2);
    CHECK(layer_problem(found.layers[0]) == "");
  }
  const AttentionLayers unknown = layers_of(grouped, "");
  CHECK_FALSE(unknown.layers.at(0).num_heads.has_value());
  CHECK_CONTAINS(layer_problem(unknown.layers[0]), "neither its arrays nor a config.json");
  CHECK(layer_problem(with_heads(unknown.layers[0], 6, 2)) == "");
  CHECK_CONTAINS(layer_problem(with_heads(unknown.layers[0], 6, 6)), "k has 4 rows instead of 12");
  CHECK_CONTAINS(layer_problem(with_heads(unknown.layers[0], 5, 5)), "cannot be split into 5 heads");
  CHECK_CONTAINS(layer_problem(with_heads(unknown.layers[0], 6, 4)), "do not divide");
}

TEST_CASE("grouped rows in one array are told apart by the numbers of heads") {
  const Sizes sizes{{"l.0.self_attn.qkv_proj.weight", {20, 12}}, {"l.0.self_attn.o_proj.weight", {12, 12}}};
  const AttentionLayers found = layers_of(sizes, R"({"num_attention_heads":6,"num_key_value_heads":2})");
  const AttentionLayer& layer = found.layers.at(0);
  CHECK(layer.q_rows == 12);
  CHECK(layer.k_rows == 4);
  CHECK(layer.v_rows == 4);
  CHECK(layer_problem(layer) == "");
}

TEST_CASE("an array that is missing is named, and the other layers are there") {
  Sizes sizes =
      one_layer("a.0.", {"attention.q_lin.", "attention.k_lin.", "attention.v_lin.", "attention.out_lin."});
  sizes.merge(one_layer("a.1.", {"attention.q_lin.", "attention.v_lin.", "attention.out_lin."}));
  const AttentionLayers found = layers_of(sizes, R"({"n_heads":2})");
  REQUIRE(found.layers.size() == 2);
  CHECK(layer_problem(found.layers[0]) == "");
  CHECK(layer_problem(found.layers[1]) == "a.1.attention.k_lin.weight is missing");
  CHECK(first_usable_layer(found) == 0);

  const AttentionLayers without_output = layers_of(
      one_layer("b.0.", {"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj."}), R"({"n_heads":2})");
  CHECK(layer_problem(without_output.layers.at(0)) == "b.0.self_attn.o_proj.weight is missing");
}

TEST_CASE("a config.json that is wrong is refused, one without sizes is as good as none") {
  const Sizes sizes =
      one_layer("a.0.", {"attention.q_lin.", "attention.k_lin.", "attention.v_lin.", "attention.out_lin."});
  CHECK_FALSE(layers_of(sizes, "{}").layers.at(0).num_heads.has_value());
  CHECK_FALSE(layers_of(sizes, R"({"n_heads":null})").layers.at(0).num_heads.has_value());
  for (const char* config : {R"({"n_heads":0})", R"({"n_heads":-2})", R"({"n_heads":2.5})",
                             R"({"n_heads":"2"})", R"({"n_heads":99999999999999999999})",
                             R"({"n_heads":[2]})", R"({"n_heads":2,"n_heads":3})", "[]", "{"})
    CHECK_THROWS_AS(layers_of(sizes, config), Error);
}

TEST_CASE("a setting that is no number is refused with the words of its file") {
  const Sizes sizes =
      one_layer("a.0.", {"attention.q_lin.", "attention.k_lin.", "attention.v_lin.", "attention.out_lin."});
  for (const std::string word : {"Infinity", "-Infinity", "NaN", "[1,NaN]"}) {
    CAPTURE(word);
    CHECK_THROWS_WITH(layers_of(sizes, "{\"n_heads\": " + word + "}"),
                      doctest::Contains(("got " + word + ";").c_str()));
    CHECK_THROWS_WITH(layers_of(sizes, word),
                      doctest::Contains(word[0] == '[' ? "got array" : ("got " + word).c_str()));
  }
  CHECK_THROWS_WITH(layers_of(sizes, "{\"n_heads\": 1e999}"),
                    doctest::Contains("a number is out of range: got 1e999; expected numbers of at most"));
}

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
