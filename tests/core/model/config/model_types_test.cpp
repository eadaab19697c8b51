// The tables of model types and settings in assets/models: that all of them are read, and what they refuse.
#include "core/model/config/model_types.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/files/word_rows.h"
#include "core/model/layers/attention_layers.h"
#include "core/model/transformer/transformer_config.h"
#include "core/tensor/error.h"
#include "tests/checks.h"

namespace headwise::test {
namespace {

std::vector<ModelType> types_in_text(std::string_view text) {
  return model_types_in({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

std::string refused_type(std::string_view text) {
  return test::refusal_line([&] { types_in_text(text); });
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
    CHECK((type.first_windowed == 28 || (type.reads & reads::window_switch) != 0));
    CHECK((type.positions != InnerPositions::rotary || (type.reads & reads::rope) != 0));
  }
  CHECK(find_model_type("llava") == nullptr);
  CHECK(is_composite_type("llava"));
  CHECK(is_composite_type("vision-text-dual-encoder"));
  CHECK(!is_composite_type("llama"));
}

TEST_CASE(
    "a row of a model type says what each of its words means, and begins with what an earlier one says") {
  const std::vector<ModelType> types = types_in_text(
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
    CHECK(family.qkv.empty() == (separate || family.layout == AttentionLayout::queries_in));
    CHECK(family.k.empty() != separate);
    CHECK((family.model_type.empty() || find_model_type(family.model_type)));
  }
  CHECK(model_families().size() == 26);
  for (const TransformerNames& names : transformer_names()) {
    CAPTURE(names.family);
    CHECK(std::ranges::count(model_families(), names.family, &ModelFamily::name) == 1);
    CHECK(find_transformer_names(names.family) == &names);
    CHECK_FALSE(names.model_types.empty());
    for (const std::string_view type : names.model_types) CHECK(find_model_type(type));
    for (const std::string_view name : {names.blocks, names.word_embeddings, names.attention_norm,
                                        names.feed_forward_norm, names.feed_in, names.feed_out})
      CHECK_FALSE(name.empty());
    REQUIRE_FALSE(names.heads.empty());
    for (const LmHeadNames& head : names.heads) CHECK_FALSE(head.decoder.empty());
  }
  CHECK(transformer_names().size() == 9);
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
}

}  // namespace headwise::test
