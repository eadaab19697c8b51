#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/array_files.h"
#include "core/model/transformer/transformer.h"
#include "core/tensor/error.h"
#include "core/tensor/random.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

using Json = nlohmann::json;

const std::string folder_of_refused = HEADWISE_SOURCE_DIR "/tests/golden/models/";

Json config_of(const std::string& name) {
  return Json::parse(content_of(folder_of_refused + name + "/config.json"));
}

std::map<std::string, std::vector<Index>> shapes_of(const std::string& name) {
  std::map<std::string, std::vector<Index>> shapes;
  const ModelFiles files(folder_of_refused + name);
  for (const auto& [array, info] : files.arrays()) shapes[array] = info.sizes;
  return shapes;
}

std::shared_ptr<const Transformer> open(const std::string& path) {
  const auto files = std::make_shared<const ModelFiles>(path);
  return Transformer::open(files, find_attention_layers(*files));
}

// The one line that says what is wrong with the model, or why it predicts no words; "" where it is whole.
std::string refusal(const std::map<std::string, std::vector<Index>>& shapes, const std::string& config) {
  const TemporaryFolder folder;
  write_model(folder, shapes, config);
  try {
    return open(folder.file(""))->no_words();
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::input);
    const std::string line = error.what();
    CHECK(line.find('\n') == std::string::npos);
    return line;
  }
}

std::string refusal_of_config(const std::string& name, const char* key, const Json& value) {
  Json config = config_of(name);
  config[key] = value;
  return refusal(shapes_of(name), config.dump());
}

void check_contains(const std::string& line, const std::string& part) {
  CAPTURE(line);
  CAPTURE(part);
  CHECK_CONTAINS(line, part);
}

}  // namespace

TEST_CASE("a small model opens as it is, and not with any of its arrays missing or of another shape") {
  for (const std::string name :
       {"bert",     "roberta",  "electra",         "distilbert", "gpt2",      "llama",
        "qwen2",    "gpt_neox", "gpt_neox_serial", "opt",        "opt_post",  "bloom",
        "phi3",     "gemma2",   "olmo2",           "cohere",     "glm4",      "stablelm_parallel",
        "nemotron", "gptj",     "mixtral",         "gpt_oss",    "modernbert"}) {
    CAPTURE(name);
    const auto shapes = shapes_of(name);
    const std::string config = config_of(name).dump();
    const bool takes_biases_as_they_are = name == "qwen2" || name == "glm4" || name == "nemotron" ||
                                          name == "gptj" || name == "gpt_oss" || name == "modernbert" ||
                                          name.starts_with("stablelm");
    CHECK(refusal(shapes, config) == "");
    for (const auto& [array, sizes] : shapes) {
      CAPTURE(array);
      const auto has = [&](const char* part) { return array.find(part) != std::string::npos; };
      if (has("attn.bias") || has("attention.bias") || has("masked_bias") || has("inv_freq") || has("pooler"))
        continue;  // not read
      auto changed = shapes;
      changed[array].back() += 1;
      CHECK(refusal(changed, config) != "");
      if (has("token_type") || (array.ends_with("bias") && takes_biases_as_they_are))
        continue;  // may be missing
      auto fewer = shapes;
      fewer.erase(array);
      CHECK(refusal(fewer, config) != "");
    }
  }
}

TEST_CASE("a block that lacks an array names it with the shape that it should have") {
  auto shapes = shapes_of("bert");
  shapes.erase("bert.encoder.layer.1.output.dense.weight");
  check_contains(refusal(shapes, config_of("bert").dump()), "bert.encoder.layer.1.output.dense.weight");
  check_contains(refusal(shapes, config_of("bert").dump()), "(16,28)");
  shapes = shapes_of("gpt2");
  shapes["transformer.ln_f.weight"] = {17};
  const std::string line = refusal(shapes, config_of("gpt2").dump());
  check_contains(line, "transformer.ln_f.weight");
  check_contains(line, "(17)");
  check_contains(line, "(16)");
}

TEST_CASE("an array in a block that would change the result, and that nothing here computes with, is named") {
  auto shapes = shapes_of("llama");
  shapes["model.layers.1.self_attn.q_norm.weight"] = {6};
  check_contains(refusal(shapes, config_of("llama").dump()), "model.layers.1.self_attn.q_norm.weight");
}

TEST_CASE("biases that config.json denies are refused, and needed where it does not") {
  const std::string attention_bias = "gpt_neox.layers.0.attention.dense.bias";
  check_contains(refusal_of_config("gpt_neox", "attention_bias", false), attention_bias);
  check_contains(refusal_of_config("gpt_neox_serial", "attention_bias", true),
                 "gpt_neox.layers.0.attention.query_key_value.bias");
  check_contains(refusal_of_config("opt", "enable_bias", false), "model.decoder.layers.0.fc1.bias");
  auto shapes = shapes_of("opt");
  std::erase_if(shapes, [](const auto& array) {
    return array.first.ends_with("bias") && array.first.find("norm") == std::string::npos;
  });
  CHECK(refusal(shapes, config_of("opt").dump()) != "");
  Json config = config_of("opt");
  config["enable_bias"] = false;
  CHECK(refusal(shapes, config.dump()) == "");
}

TEST_CASE("words that are narrower than the model need the projections of OPT") {
  auto shapes = shapes_of("opt_post");
  shapes.erase("decoder.project_in.weight");
  check_contains(refusal(shapes, config_of("opt_post").dump()), "decoder.project_in.weight");
  shapes = shapes_of("opt_post");
  shapes.erase("decoder.project_out.weight");
  check_contains(refusal(shapes, config_of("opt_post").dump()), "decoder.project_out.weight");
}

TEST_CASE("settings of config.json that are computed otherwise are named with their value") {
  check_contains(refusal_of_config("bert", "position_embedding_type", "relative_key"), "relative_key");
  check_contains(refusal_of_config("bert", "is_decoder", true), "is_decoder");
  check_contains(refusal_of_config("bert", "hidden_act", "mish"), "mish");
  check_contains(refusal_of_config("bert", "model_type", "deberta"), "deberta");
  check_contains(refusal_of_config("gpt2", "scale_attn_by_inverse_layer_idx", true),
                 "scale_attn_by_inverse_layer_idx");
  check_contains(refusal_of_config("llama", "model_type", "jamba"), "jamba");
  check_contains(refusal_of_config("llama", "rope_scaling", Json{{"rope_type", "xpos"}, {"factor", 2.0}}),
                 "rope_scaling xpos");
  check_contains(refusal_of_config("llama", "head_dim", 8), "head_dim");
  check_contains(refusal_of_config("qwen2", "layer_types", Json{"full_attention", "linear_attention"}),
                 "layer_types");
  check_contains(refusal_of_config("opt", "layer_norm_elementwise_affine", false),
                 "layer_norm_elementwise_affine");
  check_contains(refusal_of_config("opt", "do_layer_norm_before", "no"), "do_layer_norm_before");
  check_contains(refusal_of_config("opt", "model_type", "xglm"), "xglm");
  check_contains(refusal_of_config("bloom", "apply_residual_connection_post_layernorm", true),
                 "apply_residual_connection_post_layernorm");
  check_contains(refusal_of_config("bloom", "model_type", "falcon"), "falcon");
  check_contains(refusal_of_config("phi3", "rope_scaling", Json{{"type", "longrope"}}), "short_factor");
  check_contains(
      refusal_of_config("phi3", "rope_scaling",
                        Json{{"type", "longrope"}, {"short_factor", {1, 1}}, {"long_factor", {1, 1}}}),
      "2 numbers in short_factor");
  check_contains(refusal_of_config("gpt_neox", "model_type", "gpt_neox_japanese"), "gpt_neox_japanese");
  check_contains(refusal_of_config("gpt_neox", "rope_scaling", Json{{"rope_type", "xpos"}}), "rope_scaling xpos");
  check_contains(refusal_of_config("gpt_neox", "rotary_pct", 0.4), "0.4 of 8 columns");
}

TEST_CASE(
    "experts are refused that a router does not choose among, or that are chosen more often than there are") {
  check_contains(refusal_of_config("mixtral", "num_experts_per_tok", 4),
                 "more experts are chosen for a token than there are: got num_experts_per_tok = 4");
  check_contains(refusal_of_config("mixtral", "num_experts_per_tok", nullptr),
                 "no experts are chosen for a token: got num_experts_per_tok = 0");
  CHECK(refusal_of_config("mixtral", "num_experts_per_tok", 3) == "");
  auto shapes = shapes_of("gpt_oss");
  shapes["model.layers.0.mlp.router.weight"] = {4, 16};
  shapes["model.layers.0.mlp.router.bias"] = {4};
  check_contains(refusal(shapes, config_of("gpt_oss").dump()), "its router and its experts disagree");
  shapes = shapes_of("mixtral");
  shapes.erase("model.layers.1.block_sparse_moe.experts.2.w3.weight");
  check_contains(refusal(shapes, config_of("mixtral").dump()), "block_sparse_moe.experts.2.w3.weight");
  shapes["model.layers.1.block_sparse_moe.experts.3.w3.weight"] = {28, 16};
  check_contains(refusal(shapes, config_of("mixtral").dump()), "block_sparse_moe.experts.2.w3.weight");
}

TEST_CASE("an encoder whose arrays or settings do not fit is named") {
  const std::string whole = "it is an encoder";
  for (const std::string name : {"t5", "umt5"}) {
    const auto shapes = shapes_of(name);
    const std::string config = config_of(name).dump();
    check_contains(refusal(shapes, config), whole);
    for (const auto& [array, sizes] : shapes) {
      if (!array.starts_with("encoder") && array != "shared.weight") continue;
      CAPTURE(array);
      auto changed = shapes;
      changed[array].back() += 1;
      CHECK(refusal(changed, config).find(whole) == std::string::npos);
      if (array.find("block.1.layer.0.SelfAttention.relative") != std::string::npos)
        continue;  // block 0 lends it
      changed.erase(array);
      CHECK(refusal(changed, config).find(whole) == std::string::npos);
    }
  }
  check_contains(refusal_of_config("t5", "feed_forward_proj", "gated-gelu"), "no gate: the file has none");
  check_contains(refusal_of_config("umt5", "feed_forward_proj", "relu"), "the file has a gate");
  check_contains(refusal_of_config("umt5", "dense_act_fn", "mish"), "mish");
  check_contains(refusal_of_config("umt5", "feed_forward_proj", "gated-silu"), whole);
  check_contains(refusal_of_config("t5", "model_type", "udop"), "udop");
  check_contains(refusal_of_config("modernbert", "classifier_activation", "mish"), "mish");
  // Half of a file with two stacks: the encoder alone, under either name of the embeddings.
  auto shapes = shapes_of("t5");
  std::erase_if(shapes, [](const auto& array) { return array.first.starts_with("decoder"); });
  check_contains(refusal(shapes, config_of("t5").dump()), whole);
  shapes["encoder.embed_tokens.weight"] = shapes.extract("shared.weight").mapped();
  check_contains(refusal(shapes, config_of("t5").dump()), whole);
}

TEST_CASE("blocks beyond those that config.json counts are no part of the model") {
  Json config = config_of("bert");
  config["num_hidden_layers"] = 1;
  const TemporaryFolder folder;
  write_model(folder, shapes_of("bert"), config.dump());
  const std::shared_ptr<const Transformer> transformer = open(folder.file(""));
  CHECK(transformer->config().num_layers == 1);
  CHECK(transformer->no_words().empty());
}

TEST_CASE("hostile numbers in config.json are one clear sentence") {
  for (const char* key : {"num_hidden_layers", "hidden_size", "num_attention_heads"})
    for (const Json& value : {Json(-1), Json(0), Json(1e18), Json(2.5), Json("two"), Json(Json::array())})
      check_contains(refusal_of_config("bert", key, value), key);
  check_contains(refusal_of_config("bert", "num_hidden_layers", 1'000'000'000), "1000000000");
  check_contains(refusal_of_config("bert", "hidden_size", 32), "hidden_size");
  for (const Json& value : {Json(-1e-5), Json(0), Json("small"), Json(1e300)})
    check_contains(refusal_of_config("bert", "layer_norm_eps", value), "layer_norm_eps");
  check_contains(refusal_of_config("roberta", "pad_token_id", 1'000'000), "position_embeddings");
  check_contains(refusal_of_config("roberta", "pad_token_id", -3), "pad_token_id");
  check_contains(refusal_of_config("llama", "rope_theta", -5), "rope_theta");
  check_contains(refusal_of_config("llama", "max_position_embeddings", 1e30), "max_position_embeddings");
}

TEST_CASE("without config.json, or with layers of two kinds, there is no encoder") {
  check_contains(refusal(shapes_of("bert"), ""), "config.json");
  auto shapes = shapes_of("gpt2");
  for (const auto& [name, sizes] : shapes_of("bert")) shapes["x" + name] = sizes;
  check_contains(refusal(shapes, config_of("gpt2").dump()), "not a single stack of blocks");
  shapes = shapes_of("bert");
  std::map<std::string, std::vector<Index>> without_first;
  for (const auto& [name, sizes] : shapes)
    if (name.find("layer.0.") == std::string::npos) without_first[name] = sizes;
  CHECK(refusal(without_first, config_of("bert").dump()) != "");
}

TEST_CASE("ids outside the vocabulary and texts that are too long are refused before anything is computed") {
  const auto transformer = open(folder_of_refused + "bert");
  CHECK_THROWS_WITH_AS(transformer->run(std::vector<TokenId>{3, 40}), doctest::Contains("0 to 39"), Error);
  CHECK_THROWS_WITH_AS(transformer->run(std::vector<TokenId>{-1}), doctest::Contains("-1"), Error);
  CHECK_THROWS_WITH_AS(transformer->run(std::vector<TokenId>(13, 1)), doctest::Contains("at most 12"), Error);
  CHECK(transformer->run(std::vector<TokenId>{}).last_hidden->shape().sizes() == std::vector<Index>{1, 0, 16});
}

TEST_CASE("a model without a head opens, and says that there are no words to predict") {
  const auto transformer = open(folder_of_refused + "bert_without_words");
  CHECK_CONTAINS(transformer->no_words(), "cls.predictions.transform.dense.weight");
  const Transformer::Pass pass = transformer->run(std::vector<TokenId>{1, 2});
  CHECK_THROWS_WITH_AS(transformer->logits(*pass.last_hidden, 0, 2), doctest::Contains("no words to predict"),
                       Error);
}

TEST_CASE("a model that lacks a part of its second block runs its first one, and says what is missing") {
  const auto whole = open(folder_of_refused + "gpt2");
  const TemporaryFolder folder;
  std::vector<NamedTensor> arrays = read_array_file(folder_of_refused + "gpt2/model.safetensors");
  std::erase_if(arrays, [](const NamedTensor& array) { return array.name == "transformer.h.1.ln_2.bias"; });
  write_safetensors(folder.file("model.safetensors"), arrays);
  folder.with_file("config.json", config_of("gpt2").dump());
  const auto transformer = open(folder.file(""));
  CHECK(transformer->config().num_layers == 1);
  CHECK_CONTAINS(transformer->no_words(), "transformer.h.1.ln_2.bias");
  const std::vector<TokenId> ids{3, 17, 4};
  CHECK(identical(*transformer->run(ids).hidden_states[1], *whole->run(ids).hidden_states[1]));
  CHECK_THROWS_WITH_AS(transformer->layer_input(1, *transformer->run(ids).hidden_states[1]),
                       doctest::Contains("no such layer"), Error);
}

TEST_CASE("any damage to config.json opens or is refused in one line") {
  const std::string config = content_of(folder_of_refused + "llama/config.json");
  const auto shapes = shapes_of("llama");
  const TemporaryFolder folder;
  write_model(folder, shapes, config);
  const CounterRandom random(7, "damage");
  int refused = 0;
  for (std::uint64_t round = 0; round < 400; ++round) {
    std::string damaged = config;
    const auto count = 1 + static_cast<std::uint64_t>(random.uniform(round * 100) * 3.0);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(random.uniform(round * 100 + 3 * i + 1) *
                                               static_cast<double>(damaged.size()));
      const char replacements[] = "0123456789-.eE\"{}[],: ntf\x80";
      const auto which = static_cast<std::size_t>(random.uniform(round * 100 + 3 * i + 2) * 26.0);
      damaged[at] = replacements[which];
    }
    CAPTURE(damaged);
    folder.with_file("config.json", damaged);
    try {
      const auto transformer = open(folder.file(""));
      transformer->run(std::vector<TokenId>{1, 2, 3});
    } catch (const Error& error) {
      ++refused;
      CHECK(error.status() == ExitStatus::input);
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
  CHECK(refused > 100);
}
