#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/files/array_files.h"
#include "core/model/text_model.h"
#include "tests/app/cli/program_run.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const std::string own_models = HEADWISE_SOURCE_DIR "/assets/models/";
const std::string small_models = HEADWISE_SOURCE_DIR "/tests/golden/models/";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("info of a model says what its blocks and its tokenizer are, or why text cannot go in") {
  const ProgramResult own = run_program({"info", own_models + "sentences"});
  REQUIRE(own.status == 0);
  CAPTURE(own.out);
  CHECK(contains(own.out, "encoder: post-LayerNorm blocks, GELU, learned positions (at most 48 tokens)"));
  CHECK(contains(own.out, "tokenizer: WordPiece, 434 pieces"));
  CHECK(contains(own.out, "predicts 434 words"));
  CHECK(contains(run_program({"info", own_models + "copycat"}).out, "tokenizer: word list, 327 pieces"));
  const ProgramResult bare = run_program({"info", small_models + "bert_without_words"});
  CAPTURE(bare.out);
  CHECK(contains(bare.out, "text cannot go in: "));
  CHECK(contains(bare.out, "there is no tokenizer in this folder"));
  CHECK(contains(bare.out, "sinusoidal positions"));
  CHECK(contains(bare.out, "predicts no words: "));
}

TEST_CASE("run takes a model as it is, with the settings of its layer") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.npz");
  const ProgramResult text =
      run_program({"run", own_models + "copycat", "--set", "parameters.layer=1", "--set",
                   "inputs.text=garden river lamp", "--only", "attn_weights", "-o", out});
  CAPTURE(text.err);
  REQUIRE(text.status == 0);
  CHECK(read_array_file(out).at(0).tensor->shape().size(2) == 4);  // <|endoftext|> before the words
  // Grouped heads, rotary positions and the causal mask are the model's; no tokenizer: the inputs are random.
  REQUIRE(run_program({"run", small_models + "llama", "--only", "attn_weights", "-o", out}).status == 0);
  const TensorPtr weights = read_array_file(out).at(0).tensor;
  CHECK(weights->at({0, 0, 0, 1}) == 0.0);
}

TEST_CASE("info of a model as JSON has its encoder and its tokenizer") {
  const auto json = nlohmann::json::parse(run_program({"info", own_models + "copycat", "--json"}).out);
  const nlohmann::json& model = json.at("model");
  CHECK(model.at("encoder").at("vocabulary") == 327);
  CHECK(model.at("encoder").at("max_positions") == 64);
  CHECK(model.at("encoder").at("no_words").is_null());
  CHECK(model.at("tokenizer") == "word list");
  CHECK(model.at("no_text").is_null());
}

TEST_CASE("run gives a layer of a model its true input, and tells the words that the model does not know") {
  const TemporaryFolder folder;
  const std::string text = "stone owl zeppelin stone owl";
  const nlohmann::json scenario{
      {"headwise", 1},
      {"attention", {{"embed_dim", 128}, {"num_heads", 4}, {"bias", true}}},
      {"inputs", {{"source", "text"}, {"text", text}}},
      {"parameters", {{"source", "model"}, {"file", own_models + "copycat"}, {"layer", 1}}},
      {"mask", {{"is_causal", true}}}};
  const std::string out = folder.file("trace.npz");
  const ProgramResult result =
      run_program({"run", folder.with_file("scenario.json", scenario.dump()), "-o", out});
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK(contains(result.err, "zeppelin"));
  TensorPtr query;
  for (const NamedTensor& array : read_array_file(out))
    if (array.name == "query") query = array.tensor;
  REQUIRE(query);
  const auto model = TextModel::open(own_models + "copycat");
  const Encoder::Pass pass = model->encoder()->run(model->read(text).ids);
  CHECK(identical(query->reshaped(pass.layer_inputs[1]->shape()), *pass.layer_inputs[1]));
}
