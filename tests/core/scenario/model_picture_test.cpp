// Pictures as inputs: a PNG through a model of pictures, and what is refused.
#include <array>

#include "core/attention/reference_backend.h"
#include "core/files/file_paths.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/overridden_settings.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/text_inputs.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/refusals.h"

using namespace headwise;
using namespace headwise::test;

namespace {

const std::string pictured_models = HEADWISE_SOURCE_DIR "/tests/golden/models/";
const std::string pictured_photo = HEADWISE_SOURCE_DIR "/tests/golden/pictures/photo.png";

Scenario picture_scenario(const std::string& model, Index layer = 0) {
  const std::string path = pictured_models + model;
  Scenario scenario = layer_scenario(path, TextModel::open(path)->layers(), layer);
  return with_picture(scenario, pictured_photo);
}

std::string picture_refusal(const Scenario& scenario, const std::vector<std::string>& parts,
                            ExitStatus status = ExitStatus::usage) {
  return refused_with([&] { make_scenario_inputs(scenario, DType::f32); }, parts, status);
}

}  // namespace

TEST_CASE("a picture's layer has the model's own input, weights and output") {
  for (const char* const name : {"vit", "vit_wide", "deit_teacher"}) {
    CAPTURE(name);
    const auto model = TextModel::open(pictured_models + name);
    const ModelText read = model->read_picture(pictured_photo);
    const Transformer& transformer = *model->transformer();
    const Transformer::Pass pass = model->run(read, {.keep_weights = true});
    for (Index layer = 0; layer < transformer.config().num_layers; ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      const ScenarioInputs inputs = make_scenario_inputs(picture_scenario(name, layer), DType::f32);
      REQUIRE(inputs.model_input);
      CHECK(inputs.labels.query == read.labels);
      CHECK(inputs.labels.key == read.labels);
      CHECK(identical(*inputs.attention.tensors.query, *pass.layer_inputs[at]));
      const TracePtr trace = reference_forward(inputs.attention);
      const Tensor &got = *trace->tensors.attn_weights, &expected = *pass.attn_weights[at];
      REQUIRE(got.size() == expected.size());
      double apart = 0.0;
      for (Index i = 0; i < got.size(); ++i)
        apart = std::max(apart, std::abs(got.flat(i) - expected.flat(i)));
      CHECK(apart < 1e-5);
      const TensorPtr last =
          transformer.continue_from(*inputs.model_input->hidden_state, layer, *trace->tensors.output);
      const TensorPtr logits = transformer.logits(*last, 0, 1),
                      own = transformer.logits(*pass.last_hidden, 0, 1);
      for (Index i = 0; i < own->size(); ++i)
        CHECK(logits->flat(i) == doctest::Approx(own->flat(i)).epsilon(1e-4));
    }
  }
}

TEST_CASE("a scenario with a picture comes back from its file, with the picture beside it") {
  const TemporaryFolder folder;
  folder.with_file("cat.png", content_of(pictured_photo));
  const std::string path =
      folder.with_file("s.json", R"({ "headwise": 1, "attention": { "embed_dim": 16, "num_heads": 4 },
        "inputs": { "source": "picture", "picture": "cat.png" },
        "parameters": { "source": "model", "file": ")" +
                                     pictured_models + R"(vit", "layer": 1 } })");
  const Scenario scenario = scenario_of_file(path);
  CHECK(scenario.inputs.source == InputSource::picture);
  CHECK(scenario.inputs.picture == "cat.png");
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  CHECK(inputs.labels.query.size() == 17);
  CHECK(inputs.labels.query[6] == "r1 c1");
  CHECK(overridden_settings(scenario, inputs, {}).empty());
  CHECK(scenario_from_json(scenario_to_json(scenario), "again").inputs == scenario.inputs);
}

TEST_CASE("an edit of the scenario computes neither the picture nor the model again") {
  const Scenario scenario = picture_scenario("vit", 1);
  const ScenarioInputs first = make_scenario_inputs(scenario, DType::f32);
  Scenario other = scenario;
  other.attention.temperature = 2.0;
  const ScenarioInputs second = make_scenario_inputs(other, DType::f32, {}, &first);
  CHECK(second.attention.tensors.query == first.attention.tensors.query);
  CHECK(second.model_input->text.picture == first.model_input->text.picture);
}

TEST_CASE("a picture is refused with one line where it cannot go in") {
  Scenario scenario = picture_scenario("vit");
  Scenario none = scenario;
  none.inputs.picture.reset();
  picture_refusal(none, {"inputs.picture is null", "set inputs.picture to a PNG"});
  Scenario random = scenario;
  random.parameters.source = ParameterSource::random;
  picture_refusal(random, {"a picture needs a model that reads pictures", "ViT"});
  Scenario missing = scenario;
  missing.inputs.picture = "/no/such/cat.png";
  picture_refusal(missing, {"/no/such/cat.png"}, ExitStatus::input);
  Scenario text = scenario;
  text.inputs.picture = pictured_models + "vit/config.json";
  picture_refusal(text, {"this is not a PNG picture"}, ExitStatus::input);

  const std::string bert = pictured_models + "bert";
  Scenario words = layer_scenario(bert, TextModel::open(bert)->layers(), 0);
  words.inputs.source = InputSource::picture;
  words.inputs.picture = pictured_photo;
  picture_refusal(words, {"this model cannot read a picture", "it reads texts"});
  refused_with([&] { with_picture(words, pictured_photo); },
               {pictured_photo, "a picture needs a model that reads pictures"}, ExitStatus::usage);
  refused_with([&] { scenario_of_file(pictured_photo); }, {"a picture is no scenario"}, ExitStatus::usage);
}

TEST_CASE("a text for a model of pictures is told to be a text, and what the model reads") {
  Scenario scenario = picture_scenario("vit");
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = "a cat";
  const ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f32);
  CHECK_FALSE(inputs.model_input);
  REQUIRE_FALSE(inputs.notes.empty());
  std::string all;
  for (const std::string& note : inputs.notes) all += note + "\n";
  CHECK_CONTAINS(all, "the text does not go through this model");
  CHECK_CONTAINS(all, "it reads pictures: set inputs.source to picture");
}
