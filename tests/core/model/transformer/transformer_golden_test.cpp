#include "tests/core/model/transformer/transformer_golden.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/refusals.h"

using namespace headwise;
using namespace headwise::test;

namespace {

const std::string folder_of_golden = HEADWISE_SOURCE_DIR "/tests/golden/models/";
constexpr std::array small_models{
    "bert", "bert_without_words", "roberta", "distilbert", "electra", "gpt2", "llama", "mistral", "qwen2",
    "gpt_neox", "gpt_neox_serial", "opt", "opt_post", "bloom", "phi3", "qwen3",
    // by transformers itself
    "granite", "gemma", "gemma2", "gemma3_text", "olmo2", "exaone4", "smollm3", "cohere", "cohere2", "glm",
    "glm4", "stablelm", "stablelm_parallel", "arcee", "nemotron", "starcoder2", "phi", "mixtral", "qwen3_moe",
    "gpt_oss", "gptj", "modernbert", "t5", "umt5"};
const std::string models_of_ours = HEADWISE_SOURCE_DIR "/assets/models/";

std::shared_ptr<const Transformer> transformer_of(const std::string& path) {
  const auto files = std::make_shared<const ModelFiles>(path);
  return Transformer::open(files, find_attention_layers(*files));
}

void check_same(const std::string& what, const TensorPtr& got, const Golden& golden, const std::string& name) {
  CAPTURE(what);
  CAPTURE(name);
  REQUIRE(got);
  const auto expected = golden.find(name);
  REQUIRE(expected != golden.end());
  CHECK(relative_difference(*got, *expected->second) < golden_tolerance);
}

// Everything that torch wrote of one text.
void check_text(const Transformer& transformer, const Golden& golden, const std::string& text) {
  const std::vector<TokenId> ids = golden_ids(golden, text + ".ids");
  const Transformer::Pass pass = transformer.run(ids, {.keep_weights = true});
  const auto layers = static_cast<std::size_t>(transformer.config().num_layers);
  REQUIRE(pass.hidden_states.size() == layers + 1);
  REQUIRE(pass.attn_weights.size() == layers);
  for (std::size_t l = 0; l <= layers; ++l)
    check_same("hidden states", pass.hidden_states[l], golden, text + ".hidden." + std::to_string(l));
  for (std::size_t l = 0; l < layers; ++l)
    check_same("attn_weights", pass.attn_weights[l], golden, text + ".attention." + std::to_string(l));
  if (golden.contains(text + ".final")) check_same("final", pass.last_hidden, golden, text + ".final");
  const auto length = static_cast<Index>(ids.size());
  if (!golden.contains(text + ".logits")) {
    CHECK(!transformer.no_words().empty());
    return;
  }
  const TensorPtr logits = transformer.logits(*pass.last_hidden, 0, length);
  check_same("logits", logits, golden, text + ".logits");
  const TensorPtr last_row = transformer.logits(*pass.last_hidden, length - 1, 1);
  for (Index v = 0; v < transformer.config().vocabulary; ++v)
    CHECK(last_row->at({0, v}) == doctest::Approx(logits->at({length - 1, v})).epsilon(1e-4));
}

void check_model(const std::string& folder, const std::string& values) {
  CAPTURE(folder);
  const std::shared_ptr<const Transformer> transformer = transformer_of(folder);
  const Golden golden = golden_arrays(values);
  int texts = 0;
  for (; golden.contains(std::to_string(texts) + ".ids"); ++texts)
    check_text(*transformer, golden, std::to_string(texts));
  CHECK(texts > 0);
}

}  // namespace

TEST_CASE("the own models compute what torch computes with them") {
  for (const char* name : {"sentences", "copycat"})
    check_model(models_of_ours + name, folder_of_golden + name + ".npz");
}

TEST_CASE("small models under the names of their families compute what torch computes with them") {
  for (const char* name : small_models)
    check_model(folder_of_golden + name, folder_of_golden + name + "/values.npz");
}

TEST_CASE("the output of a layer's own attention continues to the model's own last hidden states") {
  std::vector<std::string> folders{models_of_ours + "sentences", models_of_ours + "copycat"};
  for (const char* name : small_models) folders.push_back(folder_of_golden + name);
  for (const std::string& folder : folders) {
    CAPTURE(folder);
    const std::shared_ptr<const Transformer> transformer = transformer_of(folder);
    const std::vector<TokenId> ids{3, 17, 4, 4, 39, 21, 8};
    const Transformer::Pass pass = transformer->run(ids);
    for (Index layer = 0; layer < transformer->config().num_layers; ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      const TensorPtr input = transformer->layer_input(layer, *pass.hidden_states[at]);
      CHECK(identical(*input, *pass.layer_inputs[at]));
      const TensorPtr output = transformer->attention_output(layer, *input);
      CHECK(identical(*transformer->continue_from(pass, layer, *output), *pass.last_hidden));
    }
  }
}

TEST_CASE("what config.json leaves out of a block's kind is as in most models of the family") {
  const std::vector<TokenId> ids{3, 17, 4, 4, 39, 21, 8};
  const auto with = [](const TemporaryFolder& folder, const std::string& name,
                       const std::function<void(nlohmann::json&)>& change) {
    auto config = nlohmann::json::parse(content_of(folder_of_golden + name + "/config.json"));
    change(config);
    folder.with_file("config.json", config.dump());
    folder.with_file("model.safetensors", content_of(folder_of_golden + name + "/model.safetensors"));
    return transformer_of(folder.file(""));
  };
  const std::map<std::string, std::vector<const char*>> usual{
      {"gpt_neox", {"hidden_act", "use_parallel_residual", "rotary_emb_base", "layer_norm_eps"}},
      {"opt",
       {"do_layer_norm_before", "_remove_final_layer_norm", "activation_function", "enable_bias",
        "layer_norm_elementwise_affine", "word_embed_proj_dim"}},
      {"modernbert",
       {"layer_types", "rope_parameters", "norm_eps", "hidden_activation", "classifier_activation"}},
      {"t5", {"feed_forward_proj", "layer_norm_epsilon"}},
      {"umt5", {"feed_forward_proj"}}};
  for (const auto& [name, keys] : usual) {
    CAPTURE(name);
    const TemporaryFolder folder;
    const auto transformer = with(folder, name, [&](nlohmann::json& config) {
      for (const char* key : keys) CHECK(config.erase(key) == 1);
    });
    CHECK(identical(*transformer->run(ids).last_hidden,
                    *transformer_of(folder_of_golden + name)->run(ids).last_hidden));
  }
  const TemporaryFolder folder;
  const auto transformer =
      with(folder, "opt", [](nlohmann::json& config) { config["_remove_final_layer_norm"] = true; });
  const Transformer::Pass pass = transformer->run(ids);
  CHECK(identical(*pass.last_hidden, *pass.hidden_states.back()));
}

TEST_CASE("files from before rope_parameters give each kind of layer its base under other keys") {
  const auto rotations = [](const std::string& name, const std::function<void(nlohmann::json&)>& change) {
    const TemporaryFolder folder;
    auto config = nlohmann::json::parse(content_of(folder_of_golden + name + "/config.json"));
    change(config);
    folder.with_file("config.json", config.dump());
    folder.with_file("model.safetensors", content_of(folder_of_golden + name + "/model.safetensors"));
    std::vector<double> second;  // of each layer, the frequency of the second pair
    const auto transformer = transformer_of(folder.file(""));
    for (const TransformerHeads& heads : transformer->config().attention)
      second.push_back(heads.rotation.inverse_frequencies.at(1));
    return second;
  };
  const auto older = [&](const std::string& name, const nlohmann::json& with) {
    return rotations(name, [&](nlohmann::json& config) {
      config.erase("rope_parameters");
      config.update(with);
    });
  };
  const auto at = [](double base) { return doctest::Approx(std::pow(base, -0.5)); };
  const auto modernbert = older("modernbert", {{"global_rope_theta", 4e4}, {"local_rope_theta", 900.0}});
  CHECK((modernbert[0] == at(4e4) && modernbert[1] == at(900.0)));
  const auto null_base = older("modernbert", {{"global_rope_theta", 4e4}, {"local_rope_theta", nullptr}});
  CHECK((null_base[0] == at(4e4) && null_base[1] == at(4e4)));
  const nlohmann::json scaling{{"rope_type", "linear"}, {"factor", 8.0}};
  const auto gemma =
      older("gemma3_text", {{"rope_theta", 1e6}, {"rope_local_base_freq", 100.0}, {"rope_scaling", scaling}});
  CHECK((gemma[0] == at(100.0) && gemma[1] == doctest::Approx(1e-3 / 8.0)));  // the first has a window
  const auto usual = older("gemma3_text", nlohmann::json::object());
  CHECK((usual[0] == at(1e4) && usual[1] == at(1e6)));
  // Every so many layers see everything, where layer_types does not say it.
  const auto pattern = older("gemma3_text", {{"layer_types", nullptr}, {"sliding_window_pattern", 2}});
  CHECK(pattern == usual);
}

TEST_CASE("a model with longrope rotates a text by the factors for its length") {
  const nlohmann::json small{1.0, 1.5}, large{2.0, 3.0};
  const auto last = [](const nlohmann::json& short_factor, const nlohmann::json& long_factor,
                       std::size_t length) {
    const TemporaryFolder folder;
    auto config = nlohmann::json::parse(content_of(folder_of_golden + "phi3/config.json"));
    config.erase("partial_rotary_factor");
    config["original_max_position_embeddings"] = 4;
    config["rope_scaling"] = {
        {"type", "longrope"}, {"short_factor", short_factor}, {"long_factor", long_factor}};
    folder.with_file("config.json", config.dump());
    folder.with_file("model.safetensors", content_of(folder_of_golden + "phi3/model.safetensors"));
    const std::vector<TokenId> ids{3, 17, 4, 4, 39, 21, 8};
    return transformer_of(folder.file(""))->run(std::span(ids).first(length)).last_hidden;
  };
  CHECK(identical(*last(small, large, 4), *last(small, small, 4)));
  CHECK(identical(*last(small, large, 5), *last(large, large, 5)));
  CHECK(relative_difference(*last(small, large, 7), *last(small, small, 7)) > 1e-4);
}

TEST_CASE("a text goes through the encoder of a file that has a decoder too, wherever its layers stand") {
  const std::shared_ptr<const Transformer> transformer = transformer_of(folder_of_golden + "t5");
  CHECK(transformer->first_layer() == 2);
  CHECK(transformer->config().num_layers == 2);
  CHECK(transformer_of(folder_of_golden + "llama")->first_layer() == 0);
  CHECK_CONTAINS(transformer->no_words(), "it is an encoder");
  CHECK_CONTAINS(blocks_text(transformer->config()), "pre-RMSNorm blocks, ReLU, relative positions");
  CHECK_CONTAINS(blocks_text(transformer_of(folder_of_golden + "umt5")->config()), "GELU (tanh) gated");
}

TEST_CASE("a head turned off by its gain is a head whose output is taken away") {
  const std::shared_ptr<const Transformer> transformer = transformer_of(models_of_ours + "sentences");
  const std::vector<TokenId> ids = golden_ids(golden_arrays(folder_of_golden + "sentences.npz"), "0.ids");
  std::vector<double> gains(8, 1.0);
  gains[7] = 0.0;
  const Transformer::Pass whole = transformer->run(ids);
  const Transformer::Pass muted = transformer->run(ids, {.head_gains = {{}, gains}});
  CHECK(identical(*muted.hidden_states[1], *whole.hidden_states[1]));
  CHECK(relative_difference(*muted.last_hidden, *whole.last_hidden) > 0.01);
  const TensorPtr output = transformer->attention_output(1, *whole.layer_inputs[1], gains);
  CHECK(identical(*transformer->continue_from(whole, 1, *output), *muted.last_hidden));
}

TEST_CASE("the numbers do not depend on how much of the weights is kept") {
  for (const std::string& folder : {models_of_ours + "sentences", folder_of_golden + "qwen2",
                                    folder_of_golden + "gpt2", folder_of_golden + "modernbert"}) {
    CAPTURE(folder);
    const std::shared_ptr<const Transformer> whole = transformer_of(folder);
    const std::vector<TokenId> ids{3, 17, 4, 4, 39, 21, 8};
    const TensorPtr last = whole->run(ids).last_hidden, logits = whole->logits(*last, 0, 7);
    for (const Index bytes : {Index{0}, Index{3000}, Index{20000}}) {
      const auto files = std::make_shared<const ModelFiles>(folder);
      const auto reading = Transformer::open(files, find_attention_layers(*files), bytes);
      CHECK(identical(*reading->run(ids).last_hidden, *last));
      CHECK(identical(*reading->logits(*last, 0, 7), *logits));
    }
  }
}

TEST_CASE("a pass that is no longer wanted ends") {
  const std::shared_ptr<const Transformer> transformer = transformer_of(models_of_ours + "sentences");
  const std::atomic<bool> cancelled = true;
  const CancelScope scope(cancelled);
  refused_with([&] { transformer->run(std::vector<TokenId>{3, 17, 4}); }, {}, ExitStatus::cancelled);
}

TEST_CASE("the numbers do not depend on the number of threads") {
  const std::shared_ptr<const Transformer> transformer = transformer_of(models_of_ours + "copycat");
  const std::vector<TokenId> ids(60, 17);
  std::vector<TensorPtr> results;
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    results.push_back(transformer->run(ids).last_hidden);
  }
  CHECK(identical(*results[0], *results[1]));
  CHECK(identical(*results[0], *results[2]));
}
