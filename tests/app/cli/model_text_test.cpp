#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/files/array_files.h"
#include "core/model/transformer/text_model.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/written_model.h"

using namespace headwise;

namespace {

const std::string models_with_text = HEADWISE_SOURCE_DIR "/assets/models/";
const std::string small_models = HEADWISE_SOURCE_DIR "/tests/golden/models/";

}  // namespace

TEST_CASE("info of a model says what its blocks and its tokenizer are, or why text cannot go in") {
  const ProgramResult own = run_well({"info", models_with_text + "sentences"});
  CAPTURE(own.out);
  CHECK_CONTAINS(own.out, "encoder: post-LayerNorm blocks, GELU, learned positions (at most 64 tokens)");
  CHECK_CONTAINS(own.out, "tokenizer: WordPiece, 3846 pieces");
  CHECK_CONTAINS(own.out, "predicts 3846 words");
  CHECK_CONTAINS(run_program({"info", models_with_text + "copycat"}).out, "tokenizer: word list, 327 pieces");
  const ProgramResult bare = run_program({"info", small_models + "bert_without_words"});
  CAPTURE(bare.out);
  CHECK_CONTAINS(bare.out, "cannot read text: ");
  CHECK_CONTAINS(bare.out, "there is no tokenizer in this folder");
  CHECK_CONTAINS(bare.out, "sinusoidal positions");
  CHECK_CONTAINS(bare.out, "predicts no words: ");
}

TEST_CASE("run takes a model as it is, with the settings of its layer") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.npz");
  run_well({"run", models_with_text + "copycat", "--set", "parameters.layer=1", "--set",
            "inputs.text=garden river lamp", "--only", "attn_weights", "-o", out});
  CHECK(read_array_file(out).at(0).tensor->shape().size(2) == 4);  // <|endoftext|> before the words
  // Grouped heads, rotary positions and the causal mask are the model's; no tokenizer: the inputs are random.
  run_well({"run", small_models + "llama", "--only", "attn_weights", "-o", out});
  const TensorPtr weights = read_array_file(out).at(0).tensor;
  CHECK(weights->at({0, 0, 0, 1}) == 0.0);
}

TEST_CASE("info of a model as JSON has its encoder and its tokenizer") {
  const auto json = nlohmann::json::parse(run_program({"info", models_with_text + "copycat", "--json"}).out);
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
      {"parameters", {{"source", "model"}, {"file", models_with_text + "copycat"}, {"layer", 1}}},
      {"mask", {{"is_causal", true}}}};
  const std::string out = folder.file("trace.npz");
  const ProgramResult result = run_well({"run", folder.with_file("scenario.json", scenario.dump()), "-o", out});
  CHECK_CONTAINS(result.err, "zeppelin");
  TensorPtr query;
  for (const NamedTensor& array : read_array_file(out))
    if (array.name == "query") query = array.tensor;
  REQUIRE(query);
  const auto model = TextModel::open(models_with_text + "copycat");
  const Transformer::Pass pass = model->transformer()->run(model->read(text).ids);
  CHECK(identical(query->reshaped(pass.layer_inputs[1]->shape()), *pass.layer_inputs[1]));
}

TEST_CASE("info of a text tells the heads and no list of tensors, and of an empty one a sentence") {
  const ProgramResult heads = run_well({"info", models_with_text + "sentences", "--text", "the dog ran ."});
  CHECK(heads.out.starts_with("heads on 6 tokens:"));
  CHECK_LACKS(heads.out, "encoder.layer.0.attention.self.query.weight");
  for (const std::string model : {"sentences", "copycat"}) {
    const ProgramResult empty = run_well({"info", models_with_text + model, "--text", " ", "--mute"});
    CHECK(empty.out == "the text is empty, so nothing was measured\n");
  }
}

TEST_CASE("what is assumed of a model that does not say its heads is one line, and in the JSON") {
  const TemporaryFolder folder;
  const std::string name = "bert.encoder.layer.0.attention.";
  test::write_model(folder,
                    {{name + "self.query.weight", {128, 128}},
                     {name + "self.key.weight", {128, 128}},
                     {name + "self.value.weight", {128, 128}},
                     {name + "output.dense.weight", {128, 128}}},
                    "");
  const ProgramResult info = run_well({"info", folder.file("model.safetensors"), "--json"});
  CHECK_CONTAINS(info.err, "assuming 2 of 64");
  CHECK(std::ranges::count(info.err, '\n') == 1);
  const std::string text = run_program({"info", folder.file("model.safetensors")}).out;
  CHECK_CONTAINS(text, "heads: unknown, assuming 2 of 64");
  CHECK_LACKS(text, "cannot be computed");
  const auto layer = nlohmann::json::parse(info.out).at("model").at("layers").at(0);
  CHECK(layer.at("num_heads").is_null());
  CHECK(layer.at("assumed_num_heads") == 2);
  CHECK(layer.at("possible_num_heads").size() == 8);
  const std::string scenario = folder.with_file(
      "scenario.json", R"({"headwise":1,"parameters":{"source":"model","file":"model.safetensors"}})");
  const std::string out = folder.file("out.npz"), png = folder.file("q.png");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"run", scenario, "-o", out},
                                                  {"export", scenario, "--tensor", "q", "-o", png},
                                                  {"info", scenario, "--json"}}) {
    CAPTURE(command[0]);
    const ProgramResult silent = run_well(command);
    CHECK_CONTAINS(silent.err, "assuming 2 of 64; set attention.num_heads");
    CHECK(std::ranges::count(silent.err, '\n') == 1);
  }
  const auto told = nlohmann::json::parse(run_program({"info", scenario, "--json"}).out).at("notes");
  CHECK_CONTAINS(told.at(0).get<std::string>(), "assuming 2 of 64");
  CHECK(run_program({"run", scenario, "--set", "attention.num_heads=8", "-o", out}).err.empty());
}

TEST_CASE("a folder whose file is damaged is refused in one line, by the window too") {
  const TemporaryFolder folder;
  folder.with_file("model.safetensors", "\xff\xff\xff\xff\xff\xff\xff\xff garbage");
  const std::string path = std::filesystem::path(folder.file("x")).parent_path().string();
  for (const std::vector<std::string>& command : {std::vector<std::string>{path}, {"info", path}}) {
    const ProgramResult result = run_program(command);
    CHECK(result.status == 3);
    CHECK(result.out.empty());
    CHECK(std::ranges::count(result.err, '\n') == 1);
    CHECK_CONTAINS(result.err, "model.safetensors");
  }
}

TEST_CASE("a model without words has its table of heads, and one line says why no head is muted") {
  const TemporaryFolder folder;
  const std::string model = folder.file("model");
  std::filesystem::copy(models_with_text + "sentences", model, std::filesystem::copy_options::recursive);
  std::vector<NamedTensor> arrays = read_array_file(model + "/model.safetensors");
  std::erase_if(arrays, [](const NamedTensor& array) { return array.name.starts_with("cls."); });
  write_safetensors(model + "/model.safetensors", arrays, {});
  const ProgramResult text = run_well({"info", model, "--text", "the dog ran .", "--mute"});
  CHECK(text.out.starts_with("heads on 6 tokens:"));
  CHECK_LACKS(text.out, "when muted");
  CHECK(is_one_line(text.err));
  CHECK_CONTAINS(text.err, "no head was muted, because this model predicts no words");
  const ProgramResult json = run_well({"info", model, "--text", "the dog ran .", "--mute", "--json"});
  const auto told = nlohmann::json::parse(json.out).at("text");
  CHECK_CONTAINS(told.at("not_muted").get<std::string>(), "predicts no words");
  CHECK_FALSE(told.at("heads").empty());
  CHECK_FALSE(told.at("heads").at(0).contains("muted"));
}

TEST_CASE("a file of a model that is none says what it is and what was expected") {
  for (const char* name : {"config.json", "tokenizer.json", "vocab.txt"}) {
    for (const bool is_folder : {false, true}) {
      CAPTURE(name);
      CAPTURE(is_folder);
      const TemporaryFolder folder;
      const std::string model = folder.file("model"), file = model + "/" + name;
      std::filesystem::copy(models_with_text + "sentences", model, std::filesystem::copy_options::recursive);
      std::filesystem::remove(file);
      if (is_folder)
        std::filesystem::create_directory(file);
      else
        std::ofstream(file).flush();
      const ProgramResult result = check_refused({"info", model, "--text", "the dog ran ."}, 3,
                                                 is_folder ? "got a folder" : "got an empty file");
      CHECK_CONTAINS(result.err, file.ends_with(".json") ? "expected a JSON file" : "expected a text file");
    }
  }
}

TEST_CASE("a layer that cannot be computed is told in a sentence") {
  const TemporaryFolder folder;
  const std::string model = folder.file("model");
  std::filesystem::copy(models_with_text + "sentences", model, std::filesystem::copy_options::recursive);
  auto config = nlohmann::json::parse(std::ifstream(model + "/config.json"));
  config["num_attention_heads"] = 7;
  std::ofstream(model + "/config.json") << config.dump();
  check_refused({"run", model, "-o", folder.file("out.npz")}, 3,
                "this layer cannot be computed: 128 rows of q cannot be split into 7 heads");
}
