// The view Prediction: what the model says, and how a muted head changes it.
#include "app/session/head_gains.h"
#include "app/stage/inspector_sections.h"
#include "app/stage/views.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/text_inputs.h"
#include "core/train/checkpoint.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

WindowBench open_prediction(const Scenario& scenario, int width = 1600, int height = 1000) {
  WindowBench bench = open_unpainted(width, height, scenario);
  if (!bench.ui) return bench;
  bench.selection().view = StageView::prediction;
  bench.ui->run_frames(2);
  return bench;
}

const TokenPredictions& predictions(WindowBench& bench) {
  return *bench.state().document.predictions.of(bench.session().computation(), 0);
}

}  // namespace

TEST_CASE("muting a head by its dot changes the words in the next frame, and unmuting brings them back") {
  WINDOW_OR_SKIP(bench, open_prediction(preset_scenario("welcome")));
  CHECK(predictions(bench).positions[9].now[0].now > 0.9);
  bench.ui->click("heads/dot/7");
  CHECK(head_gain_of(bench.scenario(), 7) == 0.0);
  CHECK(predictions(bench).positions[9].before[0].now < 0.2);
  CHECK(salient_position(predictions(bench), PredictedToken::in_place) == 9);
  bench.ui->click("heads/dot/7");
  CHECK(predictions(bench).positions[9].now[0].now > 0.9);
}

TEST_CASE("a click on a position pins its strongest weight, and its words are told") {
  WINDOW_OR_SKIP(bench, open_prediction(preset_scenario("welcome")));
  bench.selection().head = 7;
  bench.ui->click("prediction/row/9");
  REQUIRE(bench.selection().pinned);
  CHECK(bench.selection().pinned->tensor == TensorName{TensorId::attn_weights});
  CHECK(bench.selection().pinned->index == std::vector<Index>{0, 7, 9, 2});  // it → animal
}

TEST_CASE("every position has its row, at both sizes of the window") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}}) {
    WINDOW_OR_SKIP(bench, open_prediction(preset_scenario("welcome"), width, height));
    CAPTURE(width);
    bench.ui->check_shown({"prediction/row/0", "prediction/row/9", "prediction/word/0", "prediction/told"});
    const UiRect stage = bench.ui->rect("panel/stage"), word = bench.ui->rect("prediction/word/0");
    CHECK(word.max.x <= stage.max.x);
  }
}

TEST_CASE("a checkpoint of a training answers its task, which stands above the answers") {
  const TemporaryFolder folder;
  TaskSource source{.name = "reverse"};
  TrainingSettings settings = usual_settings(task_of(source));
  settings.model.causal = false;
  TrainingRun<float> run(task_of(source), settings);
  write_checkpoint(folder.file("run"), source, run);
  WINDOW_OR_SKIP(bench, open_prediction(scenario_of_file(folder.file("run"))));
  CHECK(bench.ui->has("prediction/row/15"));  // the last one: a task asks for what comes late
  CHECK(bench.ui->has("prediction/task"));
  const TransformerConfig& trained = bench.session().inputs().model_input->model->transformer()->config();
  CHECK(predicted_token(trained) == PredictedToken::answer);
  CHECK(prediction_place("lamp", 2, trained) ==
        "At “lamp” (position 2): the answer to its task. The model has read the whole sentence, before and "
        "after it.");

  WindowBench other = open_prediction(preset_scenario("welcome"));
  CHECK_FALSE(other.ui->has("prediction/task"));
  const TransformerConfig& masked = other.session().inputs().model_input->model->transformer()->config();
  CHECK(predicted_token(masked) == PredictedToken::in_place);
  CHECK(prediction_place("it", 9, masked).starts_with("At “it” (position 9): the word in this place. "));
  TransformerConfig causal = masked;
  causal.is_causal = true;
  CHECK(prediction_place("it", 9, causal) ==
        "After “it” (position 9): the next word. The model has read this word and the ones before it, and no "
        "later one.");
}

TEST_CASE("where no model predicts, the view says what to do") {
  WINDOW_OR_SKIP(bench, open_prediction(preset_scenario("hand_made")));
  CHECK_FALSE(bench.ui->has("prediction/row/0"));
  CHECK_CONTAINS(predictions(bench).why, "trained model");
}

TEST_CASE("a text that grows keeps the view alive, and a word that the model does not know is told") {
  WINDOW_OR_SKIP(bench, open_prediction(preset_scenario("welcome")));
  Scenario scenario = bench.scenario();
  scenario.inputs.text = "the слон did not cross the street because it was too tired .";
  bench.session().edit(scenario, "text", false);
  bench.ui->run_frames(2);
  CHECK(bench.session().inputs().notes.size() == 1);
  CHECK_CONTAINS(bench.session().inputs().notes[0], "слон");
  for (int i = 0; i < 20; ++i) scenario.inputs.text += " and the animal";
  bench.session().edit(scenario, "text", false);
  bench.ui->run_frames(2);
  CHECK(predictions(bench).positions.size() <= 64);
  CHECK(bench.ui->has("prediction/row/0"));
  scenario.inputs.text.clear();
  bench.session().edit(scenario, "text", false);
  bench.ui->run_frames(2);
  CHECK(bench.session().error().empty());
}

TEST_CASE("with a model open the setup names it and its layers; what the model decides cannot be chosen") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000, preset_scenario("welcome")));
  bench.ui->check_shown({"setup/model", "setup/layer"});
  const Scenario opened = bench.scenario();
  bench.ui->click("setup/positions/off").click("setup/attention/cross");
  CHECK(bench.scenario() == opened);
  // Random parameters and back to the model's.
  bench.ui->click("setup/parameters/random");
  CHECK(bench.scenario().parameters.source == ParameterSource::random);
  bench.ui->click("setup/positions/off");
  CHECK_FALSE(bench.scenario().inputs.positions);
  bench.ui->key("Ctrl+Z").click("setup/parameters/model");
  CHECK(bench.scenario().parameters.source == ParameterSource::model);
  CHECK(bench.session().error().empty());
}

TEST_CASE("the inspector speaks of the word that the model says at the position that is looked at") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}}) {
    WINDOW_OR_SKIP(bench, open_prediction(preset_scenario("welcome"), width, height));
    CHECK(bench.ui->has("inspector/prediction"));
    CHECK_FALSE(bench.ui->has("inspector/terms"));
    bench.ui->move_to("prediction/row/9");
    CHECK(bench.ui->has("inspector/prediction"));
    CHECK_FALSE(bench.ui->has("inspector/terms"));
    const UiRect panel = bench.ui->rect("panel/inspector");
    CHECK(bench.ui->rect("inspector/prediction").max.x <= panel.max.x);
  }
}

TEST_CASE("in a small window the sentences of the view wrap, and its heads can still be muted") {
  for (const auto& [width, height] : {std::pair{640, 720}, {640, 480}}) {
    WINDOW_OR_SKIP(bench, open_prediction(preset_scenario("welcome"), width, height));
    CAPTURE(height);
    bench.ui->click("tab/settings");  // beside it the stage has half of the window
    bench.ui->run_until_still();
    const UiRect stage = bench.ui->rect("panel/stage");
    CHECK(bench.ui->rect("heads/dot/7").max.x <= stage.max.x);
    const UiRect told = bench.ui->rect("prediction/told");
    CHECK(told.max.x <= stage.max.x);
    CHECK(told.max.y - told.min.y > 20.0f);  // more than one line
    CHECK(bench.ui->has("prediction/row/3"));
    bench.ui->click("heads/dot/7");
    CHECK(head_gain_of(bench.scenario(), 7) == 0.0);
  }
}
