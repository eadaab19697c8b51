#include <array>
#include <filesystem>

#include "core/attention/reference_backend.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/transformer/transformer_golden.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

const std::string own_models = HEADWISE_SOURCE_DIR "/assets/models/";
const std::string small_models = HEADWISE_SOURCE_DIR "/tests/golden/models/";

Scenario text_scenario(const std::string& path, Index layer, const std::string& text) {
  Scenario scenario = layer_scenario(path, TextModel::open(path)->layers(), layer);
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = text;
  return scenario;
}

// A small model of tests/golden/models with a list of words, so that a text can go in.
std::string with_words(const TemporaryFolder& folder, const std::string& name) {
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(small_models + name + "/" + file, folder.file(file));
  std::string words = "<|endoftext|>\n[UNK]\n";
  for (int i = 2; i < 40; ++i) words += "w" + std::to_string(i) + "\n";
  folder.with_file("vocab.txt", words);
  return std::filesystem::path(folder.file("config.json")).parent_path().string();
}

// The operator, given each layer's true input, computes what the model's own attention does, and its output
// carried on through the rest of the model gives the model's own logits.
void check_every_layer(const std::string& path, const std::string& text) {
  CAPTURE(path);
  const auto model = TextModel::open(path);
  REQUIRE(model->no_text().empty());
  const Transformer& transformer = *model->transformer();
  const ModelText read = model->read(text);
  const auto length = static_cast<Index>(read.ids.size());
  const Transformer::Pass pass = transformer.run(read.ids, {.keep_weights = true});
  for (Index layer = 0; layer < transformer.config().num_layers; ++layer) {
    CAPTURE(layer);
    const auto at = static_cast<std::size_t>(layer);
    const ScenarioInputs inputs =
        make_scenario_inputs(text_scenario(path, transformer.first_layer() + layer, text), DType::f32);
    REQUIRE(inputs.model_input);
    CHECK(inputs.model_input->layer == layer);
    CHECK(inputs.labels.query == read.labels);
    CHECK(inputs.labels.key == read.labels);
    CHECK(inputs.attention.options.is_causal == transformer.config().is_causal);
    CHECK(identical(*inputs.attention.tensors.query, *pass.layer_inputs[at]));
    CHECK(identical(*inputs.model_input->hidden_state, *pass.hidden_states[at]));
    const TracePtr trace = reference_forward(inputs.attention);
    CHECK(relative_difference(*pass.attn_weights[at], *trace->tensors.attn_weights) < golden_tolerance);
    const TensorPtr last =
        transformer.continue_from(*inputs.model_input->hidden_state, layer, *trace->tensors.output);
    CHECK(relative_difference(*last, *pass.last_hidden) < golden_tolerance);
    if (!transformer.no_words().empty()) continue;
    CHECK(relative_difference(*transformer.logits(*last, 0, length),
                              *transformer.logits(*pass.last_hidden, 0, length)) < golden_tolerance);
  }
}

}  // namespace

TEST_CASE("a text given to a layer of a model is traced as the model itself computes it") {
  check_every_layer(own_models + "sentences",
                    "the animal did not cross the street because it was too tired .");
  check_every_layer(own_models + "copycat", "garden river lamp apple violin garden river lamp");
  for (const char* name : {"bert", "bert_without_words", "roberta", "distilbert", "gpt2", "llama", "mistral",
                           "qwen2", "gpt_neox", "gpt_neox_serial", "opt", "opt_post", "bloom", "phi3",
                           "qwen3", "modernbert", "t5", "umt5"}) {
    const TemporaryFolder folder;
    check_every_layer(with_words(folder, name), "w3 w17 w4 w4 w39 w21 w8");
  }
}

TEST_CASE("a model whose scores are not scaled is traced as it computes them") {
  const TemporaryFolder folder;
  const std::string path = with_words(folder, "gpt2");
  std::string config = content_of(folder.file("config.json"));
  config.insert(config.find('{') + 1, R"("scale_attn_weights": false,)");
  folder.with_file("config.json", config);
  CHECK(TextModel::open(path)->transformer()->config().attention.front().scale == 1.0);
  check_every_layer(path, "w3 w17 w4 w4 w39 w21 w8");
}

TEST_CASE("a text does not reach a decoder's layers, and a note says which it goes through") {
  const TemporaryFolder folder;
  const std::string path = with_words(folder, "t5");
  for (const Index layer : {0, 1}) {
    const ScenarioInputs inputs = make_scenario_inputs(text_scenario(path, layer, "w3 w4"), DType::f32);
    CHECK_FALSE(inputs.model_input);
    REQUIRE_FALSE(inputs.notes.empty());
    CHECK_CONTAINS(inputs.notes[0], "it goes through the encoder, layers 2 to 3");
  }
  const Scenario opened = opened_model_scenario(path, TextModel::open(path)->layers());
  CHECK(opened.parameters.layer == 2);  // the first that its text reaches
}

TEST_CASE("a head muted in the scenario is the head muted in the model") {
  const std::string path = own_models + "sentences", text = "the animal was tired .";
  Scenario scenario = text_scenario(path, 1, text);
  scenario.head_gain = std::vector<double>{1, 1, 1, 1, 1, 1, 1, 0};
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f64);
  REQUIRE(inputs.model_input);
  const Transformer& transformer = *inputs.model_input->model->transformer();
  const TracePtr trace = reference_forward(inputs.attention);
  const TensorPtr last =
      transformer.continue_from(*inputs.model_input->hidden_state, 1, *trace->tensors.output);
  const Transformer::Pass muted =
      transformer.run(inputs.model_input->text.ids, {.head_gains = {{}, *scenario.head_gain}});
  CHECK(relative_difference(*last, *muted.last_hidden) < golden_tolerance);
}

TEST_CASE("an edit of a mask or a gain leaves the model's pass as it is, another text or layer does not") {
  const Scenario scenario = text_scenario(own_models + "copycat", 1, "stone owl stone");
  const ScenarioInputs first = make_scenario_inputs(scenario, DType::f32);
  Scenario edited = scenario;
  edited.head_gain = std::vector<double>{0, 1, 1, 1};
  edited.mask.is_causal = false;
  const ScenarioInputs second = make_scenario_inputs(edited, DType::f32, {}, &first);
  CHECK(second.attention.tensors.query == first.attention.tensors.query);
  CHECK(second.model_input->hidden_state == first.model_input->hidden_state);
  CHECK(second.model_input->model == first.model_input->model);
  edited.inputs.text = "stone owl owl";
  const ScenarioInputs third = make_scenario_inputs(edited, DType::f32, {}, &second);
  CHECK(third.attention.tensors.query != second.attention.tensors.query);
  Scenario earlier = edited;
  earlier.parameters.layer = 0;
  const ScenarioInputs fourth = make_scenario_inputs(earlier, DType::f32, {}, &third);
  CHECK_FALSE(identical(*fourth.attention.tensors.query, *third.attention.tensors.query));
}

TEST_CASE("a batch repeats the text, and a given query takes its place") {
  Scenario scenario = text_scenario(own_models + "copycat", 0, "stone owl");
  scenario.inputs.batch = 2;
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  const Tensor& query = *inputs.attention.tensors.query;
  REQUIRE(query.shape().sizes() == std::vector<Index>{2, 3, 128});
  for (Index e = 0; e < 128; ++e) CHECK(query.at({1, 2, e}) == query.at({0, 2, e}));
  const auto given = counted({1, 5, 128}, 0.0);
  scenario.inputs.batch = 1;
  const ScenarioInputs other = make_scenario_inputs(scenario, DType::f32, {{"query", given}});
  CHECK_FALSE(other.model_input);
  CHECK(other.attention.tensors.query->at({0, 0, 3}) == 3.0);
}

TEST_CASE("what a person should know of the text is told with the inputs") {
  const ScenarioInputs unknown =
      make_scenario_inputs(text_scenario(own_models + "copycat", 0, "stone zeppelin"), DType::f32);
  REQUIRE(unknown.notes.size() == 1);
  CHECK_CONTAINS(unknown.notes[0], "zeppelin");
  // Its name is the word, and what the model read for it.
  REQUIRE(unknown.labels.query.size() == 3);
  CHECK(unknown.labels.query[1] == "stone");
  CHECK(unknown.labels.query[2] == "zeppelin → [UNK]");
  CHECK(unknown.labels.key == unknown.labels.query);
  CHECK(unknown_word(unknown.labels.query[2]) == "zeppelin");
  CHECK(unknown_word(unknown.labels.query[1]).empty());
  CHECK(unknown.model_input->text.labels[2] == "[UNK]");
  std::string text;
  for (int i = 0; i < 70; ++i) text += "stone ";
  const ScenarioInputs cut = make_scenario_inputs(text_scenario(own_models + "copycat", 0, text), DType::f32);
  CHECK(cut.attention.tensors.query->shape().size(1) == 64);
  REQUIRE(cut.notes.size() == 1);
  CHECK_CONTAINS(cut.notes[0], "the last 7 are left out");
}

TEST_CASE("a scenario that leaves out the turns that the model makes is told what the layer has") {
  for (const auto& [name, key] :
       {std::pair{"qwen2", "attention.rotary_base = null (the layer has 1000000)"},
        std::pair{"gpt_neox", "attention.rotary_inverse_frequencies = null (the layer has ["}}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    Scenario scenario = text_scenario(with_words(folder, name), 0, "w3 w4");
    REQUIRE((scenario.attention.rotary_base || scenario.attention.rotary_inverse_frequencies));
    CHECK(make_scenario_inputs(scenario, DType::f32).notes.empty());
    scenario.attention.rotary_base.reset();
    scenario.attention.rotary_inverse_frequencies.reset();
    const std::vector<std::string> notes = make_scenario_inputs(scenario, DType::f32).notes;
    REQUIRE(notes.size() == 1);
    CHECK_CONTAINS(notes[0], key);
  }
}

TEST_CASE("a scenario that leaves out the distances that the model sees is told so") {
  const TemporaryFolder folder;
  Scenario scenario = text_scenario(with_words(folder, "bloom"), 0, "w3 w4");
  CHECK(make_scenario_inputs(scenario, DType::f32).notes.empty());
  scenario.mask.alibi = false;
  const std::vector<std::string> notes = make_scenario_inputs(scenario, DType::f32).notes;
  REQUIRE(notes.size() == 1);
  CHECK_CONTAINS(notes[0], "mask.alibi = false (the layer has true)");
}

TEST_CASE("a second text, or keys of another source, are refused beside a model's text") {
  Scenario scenario = text_scenario(own_models + "copycat", 0, "stone owl");
  scenario.inputs.key_text = "owl";
  CHECK_THROWS_WITH_AS(make_scenario_inputs(scenario, DType::f32), doctest::Contains("inputs.key_text"), Error);
  scenario.inputs.key_text.reset();
  scenario.inputs.self_attention = false;
  CHECK_THROWS_WITH_AS(make_scenario_inputs(scenario, DType::f32), doctest::Contains("inputs.self_attention"),
                       Error);
}

TEST_CASE(
    "a model that text cannot go into has its parameters all the same, with embedded words, and says so") {
  const TemporaryFolder folder;
  write_model(folder, {{"blocks.0.attn.qkv.weight", {12, 4}}, {"blocks.0.attn.proj.weight", {4, 4}}},
              R"({"num_heads": 2})");
  const ScenarioInputs inputs =
      make_scenario_inputs(text_scenario(folder.file("model.safetensors"), 0, "Two words"), DType::f32);
  CHECK_FALSE(inputs.model_input);
  CHECK(inputs.labels.query == std::vector<std::string>{"Two", "words"});
  REQUIRE(inputs.notes.size() == 1);
  CHECK_CONTAINS(inputs.notes[0], "does not go through this model");
  CHECK_CONTAINS(inputs.notes[0], "timm ViT");
}
