// The tables of model types and settings in assets/models: that all of them are read, and what they refuse.
#include "core/model/config/model_types.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/attention/reference_backend.h"
#include "core/files/word_rows.h"
#include "core/model/config/model_config.h"
#include "core/model/layers/attention_layers.h"
#include "core/model/transformer/transformer_config.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

namespace headwise::test {
namespace {

std::string refused_type(std::string_view text) {
  return test::refusal_line([&] { model_types_in(text); });
}

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

TEST_CASE("every model type is found by its name, and has a number only where it reads the setting") {
  CHECK(model_types().size() > 170);
  for (const ModelType& type : model_types()) {
    CAPTURE(type.name);
    CHECK(find_model_type(type.name) == &type);
    CHECK((type.usual_head_dim == 0 || (type.reads & reads::head_dim) != 0));
    CHECK((type.usual_base == 10000.0 || (type.reads & reads::rope) != 0));
    CHECK((type.usual_share == 1.0 || (type.reads & reads::partial_rope) != 0));
    CHECK((type.first_windowed == 0 || (type.reads & reads::window) != 0));
    CHECK((type.positions != InnerPositions::rotary || (type.reads & reads::rope) != 0));
  }
  CHECK(find_model_type("llava") == nullptr);
  CHECK(is_composite_type("llava"));
  CHECK(is_composite_type("vision-text-dual-encoder"));
  CHECK(!is_composite_type("llama"));
}

TEST_CASE(
    "a row of a model type says what each of its words means, and begins with what an earlier one says") {
  const std::vector<ModelType> types = model_types_in(
      "plain =\n"
      "base = past_in_decoder rotary rope head_dim usual_base=1.5e5 usual_head_dim=64 | depth width\n"
      "same = like base\n"
      "other = like base all_tokens window usual_base=2e6 usual_kv_heads=4 | height\n");
  REQUIRE(types.size() == 4);
  CHECK(types[0].sees == Sees::past);
  CHECK(types[0].positions == InnerPositions::none);
  CHECK(types[0].reads == 0);
  CHECK(types[1].sees == Sees::past_in_decoder);
  CHECK(types[1].positions == InnerPositions::rotary);
  CHECK(types[1].reads == (reads::rope | reads::head_dim));
  CHECK(types[1].usual_base == 150000.0);
  CHECK(types[1].usual_head_dim == 64);
  CHECK(words_in(types[1].own_settings) == std::vector<std::string_view>{"depth", "width"});
  CHECK(types[2].name == "same");
  CHECK(types[2].usual_head_dim == 64);
  CHECK(types[2].own_settings == types[1].own_settings);
  CHECK(types[3].sees == Sees::all_tokens);
  CHECK(types[3].reads == (reads::rope | reads::head_dim | reads::window));
  CHECK(types[3].usual_base == 2e6);
  CHECK(types[3].usual_kv_heads == 4);
  CHECK(words_in(types[3].own_settings) == std::vector<std::string_view>{"height"});
}

TEST_CASE("a row of a model type is refused where a word says nothing") {
  for (const char* row :
       {"a = rotari", "a = rope=2", "a = usual_heads", "a = usual_heads=", "a = usual_heads=2x",
        "a = usual_heads=1.5", "a = like b", "a = like", "a = like ", "a =\nb = rope like a"}) {
    CAPTURE(std::string(row));
    CHECK_CONTAINS(refused_type(row), "a word says nothing");
  }
  CHECK(refused_type("a = rotari").find("types.txt: a: a word says nothing: got rotari") == 0);
  CHECK(refused_type("a = usual_base=1e6").empty());
}

TEST_CASE("every family has names of arrays, and every transformer is a family with names of known types") {
  for (const ModelFamily& family : model_families()) {
    CAPTURE(family.name);
    CHECK_FALSE(family.output.empty());
    const bool separate = family.layout == AttentionLayout::separate;
    const bool latents = family.layout == AttentionLayout::latent;
    CHECK(family.qkv.empty() == (separate || latents || family.layout == AttentionLayout::queries_in));
    CHECK((!latents || !family.kv.empty()));
    CHECK(family.k.empty() != separate);
    CHECK((family.model_type.empty() || find_model_type(family.model_type)));
  }
  CHECK(model_families().size() == 32);
  for (const TransformerNames& names : transformer_names()) {
    CAPTURE(names.name);
    CHECK(std::ranges::count(model_families(), names.family, &ModelFamily::name) > 0);
    CHECK_FALSE(names.model_types.empty());
    for (const std::string_view type : names.model_types) {
      CHECK(find_model_type(type));
      CHECK(find_transformer_names(names.family, type) == &names);
    }
    CHECK(names.word_embeddings.empty() != names.patch_projection.empty());
    for (const std::string_view name : {names.blocks, names.feed_in, names.feed_out})
      CHECK_FALSE(name.empty());
    CHECK_FALSE((names.attention_norm.empty() && names.attention_output_norm.empty()));
    CHECK((names.shares_norm || names.feed_forward_norm.empty() == names.attention_norm.empty()));
    CHECK(names.heads.empty() == names.is_encoder);
    for (const LmHeadNames& head : names.heads) CHECK_FALSE(head.decoder.empty());
  }
  CHECK(transformer_names().size() == 30);
  CHECK(find_transformer_names("Llama") == find_transformer_names("Llama", "llama"));
  CHECK(find_transformer_names("Llama", "no_such_type")->name == "Llama");
  CHECK(find_transformer_names("Llama", "gemma2")->name == "Gemma 2");
}

TEST_CASE("a setting is told unless its type reads it, it is neutral, or it belongs to other parts") {
  const ModelType* const llama = find_model_type("llama");
  const ModelType* const led = find_model_type("led");
  REQUIRE(llama);
  REQUIRE(led);
  const auto told = [](const char* config, const ModelType* type) {
    return settings_not_computed(nlohmann::json::parse(config), type).size();
  };
  CHECK(told(R"({"rope_theta": 5e5, "vocab_size": 7, "is_decoder": true, "clip_qkv": null})", llama) == 0);
  CHECK(told(R"({"alibi": false, "scale_attn_weights": true, "key_multiplier": 1})", llama) == 0);
  CHECK(told(R"({"position_embedding_type": "absolute", "attention_type": "original_full"})", llama) == 0);
  CHECK(told(R"({"alibi": true, "clip_qkv": 8, "scale_attn_weights": false, "key_multiplier": 2})", llama) == 4);
  CHECK(told(R"({"local_attention": false, "no_such_setting": 1, "attention_window": 4})", llama) == 3);
  CHECK(told(R"({"attention_window": 4})", led) == 0);
  // Gemma 2 has a softcap of the scores; of Gemma 3, transformers reads the key and does not use it.
  CHECK(told(R"({"attn_logit_softcapping": 2.0})", find_model_type("gemma2")) == 0);
  CHECK(told(R"({"attn_logit_softcapping": 2.0})", find_model_type("gemma3_text")) == 1);
  CHECK(told(R"({"attn_logit_softcapping": null})", find_model_type("gemma3_text")) == 0);
}

TEST_CASE(
    "rope_theta is the base, 10000 where the file does not say it, and stands in rope_parameters of newer "
    "files") {
  CHECK(read("{}").base == 10000.0);
  CHECK(read(R"({"rope_theta": 500000})").base == 500000.0);
  CHECK(read(R"({"rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}})").base == 1e6);
  CHECK(read(R"({"rotary_emb_base": 5000, "rotary_pct": 0.25})").share == 0.25);
  CHECK(read(R"({"model_type": "gpt_neox"})").share == 0.25);
  CHECK(read(R"({"model_type": "gpt_neox", "rope_parameters": {"partial_rotary_factor": 0.5}})").share == 0.5);
  CHECK_FALSE(read(R"({"rope_scaling": null})").scaling);
  CHECK(rotary_width(read(R"({"rotary_pct": 0.25})"), 64) == 16);
  CHECK(rotary_width(ModelRotary{}, 5) == 0);
}

TEST_CASE("frequencies are scaled as rope_scaling has it") {
  const Rotation linear = model_rotation(read(R"({"rope_scaling": {"type": "linear", "factor": 4}})"), 8);
  CHECK(linear.inverse_frequencies == std::vector<double>{0.25, 0.025, 0.0025, 0.00025});
  const ModelRotary llama3 = read(R"({"rope_theta": 500000, "rope_scaling": {"rope_type": "llama3", "factor": 8,
      "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192}})");
  CHECK(model_rotation(llama3, 128).inverse_frequencies[34] ==
        doctest::Approx(0.0001785078127679964).epsilon(1e-13));
  CHECK(rotary_text(llama3) == "base 500000, scaled: llama3 by 8");
  // Where it is not written, the longest text of training is meant; one beside the scaling is meant before.
  const auto original = [](const std::string& config) {
    return read(config).scaling->original_max_position_embeddings;
  };
  CHECK(original(R"({"max_position_embeddings": 1024, "rope_scaling": {"rope_type": "llama3"}})") == 1024);
  CHECK(original(R"({"max_position_embeddings": 1024, "rope_parameters": {"rope_type": "yarn", "factor": 4,
      "original_max_position_embeddings": 256}})") == 256);
  const ModelRotary phi = read(R"({"max_position_embeddings": 1024, "original_max_position_embeddings": 64,
      "rope_scaling": {"type": "longrope", "short_factor": [1, 2], "long_factor": [3, 4],
      "original_max_position_embeddings": 128}})");
  CHECK(phi.scaling->original_max_position_embeddings == 64);
  CHECK(phi.scaling->factor == 16);
  CHECK(read(R"({"rope_scaling": {"type": "su", "short_factor": [1], "long_factor": [2],
      "original_max_position_embeddings": 64}})")
            .scaling->kind == RotaryScalingKind::longrope);
}

TEST_CASE("what is not understood is named, and what cannot be is refused") {
  CHECK(read(R"({"rope_scaling": {"type": "xpos", "factor": 4}})").unsupported == "rope_scaling xpos");
  CHECK(read(R"({"rope_scaling": {"type": "dynamic", "factor": 4}})").unsupported.empty());
  CHECK(read(R"({"model_type": "llama4_text"})").unsupported.empty());
  CHECK(model_rotation(read(R"({"model_type": "nanochat"})"), 4).inverse_frequencies ==
        std::vector{-1.0, -0.01});
  for (const char* wrong :
       {R"({"rope_theta": 0})", R"({"rope_theta": "big"})", R"({"rope_theta": 1e300})",
        R"({"rotary_pct": 1.5})", R"({"rope_scaling": {"type": "linear", "factor": -1}})",
        R"({"rope_scaling": {"type": "longrope", "short_factor": [1], "long_factor": [1, 2]}})",
        R"({"rope_scaling": {"type": "yarn", "factor": 4, "truncate": "no"}})",
        R"({"rope_scaling": {"type": "llama3", "low_freq_factor": 4, "high_freq_factor": 4}})"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(read(wrong), doctest::Contains("config.json"), Error);
  }
}

TEST_CASE("a model has the rotary positions of its class where config.json omits them") {
  int with_usual_rope = 0;
  for (const ModelType& type : model_types()) {
    CAPTURE(type.name);
    CHECK((type.usual_window_every == 0 || (type.reads & (reads::window | reads::half_windows)) != 0));
    if (type.usual_rope.empty()) continue;
    ++with_usual_rope;
    const TemporaryFolder folder;
    const auto written = [&](const std::string& rope) {
      std::ofstream(folder.file("config.json")) << R"({"model_type": ")" << type.name << '"' << rope << '}';
      return read_model_config(folder.file(""))->rotary;
    };
    const ModelRotary usual = written("");
    CHECK(usual.unsupported == "");
    CHECK(usual.scaling);
    const ModelRotary given = written(R"(, "rope_parameters": )" + std::string(type.usual_rope));
    CHECK(usual.scaling == given.scaling);
    CHECK(usual.base == given.base);
    CHECK_FALSE(written(R"(, "rope_parameters": {"rope_type": "default"})").scaling);
  }
  CHECK(with_usual_rope >= 5);
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

}  // namespace headwise::test
