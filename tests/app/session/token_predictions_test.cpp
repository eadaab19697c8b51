// What a model says with a layer as the scenario has it, without a window.
#include <cmath>

#include "app/session/token_predictions.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/text_inputs.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

ComputationPtr computed_predictions(const std::vector<std::string>& settings, const char* preset = "welcome",
                                    const Computation* previous = nullptr) {
  Scenario scenario = preset_scenario(preset);
  for (const std::string& setting : settings) scenario = with_setting(scenario, setting);
  return compute(scenario, previous);
}

std::string word(const ComputationPtr& computation, const WordChange& change) {
  return computation->inputs.model_input->model->label(change.id);
}

constexpr std::size_t it = 9;  // of the welcome sentence, with [CLS] in front
const char* const without_head_7 = "heads.gain=[1,1,1,1,1,1,1,0]";

}  // namespace

TEST_CASE("an untouched layer changes no word, whichever layer it is") {
  for (const char* layer : {"parameters.layer=0", "parameters.layer=1"}) {
    CAPTURE(layer);
    PredictionRuns runs;
    const ComputationPtr computation = computed_predictions({layer});
    const WordPredictionsPtr predictions = runs.of(computation, 0);
    REQUIRE(predictions);
    CHECK(predictions->why.empty());
    REQUIRE(predictions->positions.size() == 15);
    for (const PredictionChange& change : predictions->positions) {
      CHECK(change.bits < 1e-6);
      CHECK(change.before[0].id == change.now[0].id);
      CHECK(change.before.size() == static_cast<std::size_t>(predicted_tokens));
    }
    CHECK(word(computation, predictions->positions[it].now[0]) == "animal");
    CHECK(predictions->positions[it].now[0].now > 0.9);
  }
}

TEST_CASE("without head 7 the model no longer knows what it stands for") {
  PredictionRuns runs;
  const ComputationPtr muted = computed_predictions({without_head_7});
  const WordPredictionsPtr predictions = runs.of(muted, 0);
  REQUIRE(predictions);
  const PredictionChange& change = predictions->positions[it];
  CHECK(word(muted, change.before[0]) == "animal");
  CHECK(change.before[0].before > 0.9);
  CHECK(change.before[0].now < 0.2);
  CHECK(change.bits > 1.0);
}

TEST_CASE("the divergence is the sum of p log p over q of all words, here told by the two that matter") {
  PredictionRuns runs;
  const ComputationPtr muted = computed_predictions({without_head_7});
  const ModelInput& input = *muted->inputs.model_input;
  const Transformer& transformer = *input.model->transformer();
  const Transformer::Pass pass = transformer.run(input.text.ids);
  const Transformer::Pass without =
      transformer.run(input.text.ids, {.head_gains = {std::vector<double>(8, 1.0), {1, 1, 1, 1, 1, 1, 1, 0}}});
  const TensorPtr before = transformer.logits(*pass.last_hidden, it, 1),
                  now = transformer.logits(*without.last_hidden, it, 1);
  const double of_before = log_sum_exp(before->values<float>()), of_now = log_sum_exp(now->values<float>());
  double bits = 0.0;
  for (Index i = 0; i < before->size(); ++i) {
    const double p = std::exp(before->flat(i) - of_before), q = std::exp(now->flat(i) - of_now);
    bits += p * std::log2(p / q);
  }
  CHECK(runs.of(muted, 0)->positions[it].bits == doctest::Approx(bits).epsilon(1e-3));
}

TEST_CASE("a mask, a scale and an edited cell of the layer show in the words too") {
  PredictionRuns runs;
  for (const char* setting : {"mask.is_causal=true", "attention.scale=0", "attention.temperature=9"}) {
    CAPTURE(setting);
    const WordPredictionsPtr predictions = runs.of(computed_predictions({setting}), 0);
    REQUIRE(predictions);
    double most = 0.0;
    for (const PredictionChange& change : predictions->positions) most = std::max(most, change.bits);
    CHECK(most > 0.1);
  }
}

TEST_CASE("predictions of one computation are made once") {
  PredictionRuns runs;
  const ComputationPtr computation = computed_predictions({});
  const WordPredictionsPtr first = runs.of(computation, 0);
  CHECK(runs.of(computation, 0) == first);
  const ComputationPtr muted = computed_predictions({without_head_7}, "welcome", computation.get());
  CHECK(muted->inputs.model_input->hidden_state == computation->inputs.model_input->hidden_state);
  CHECK(runs.of(muted, 0) != first);
}

TEST_CASE("where there are no words to predict a sentence says why") {
  PredictionRuns runs;
  CHECK_CONTAINS(runs.of(computed_predictions({}, "hand_made"), 0)->why, "only a trained model");
  CHECK_CONTAINS(runs.of(computed_predictions({"inputs.source=random"}), 0)->why, "give the model a text");
  CHECK(runs.of(computed_predictions({}), 0)->why.empty());
  CHECK_CONTAINS(runs.of(computed_predictions({"parameters.source=hand_made"}), 0)->why,
                 "set heads to model");
  const std::string llama = HEADWISE_SOURCE_DIR "/tests/golden/models/llama";  // has no tokenizer
  const Scenario without = layer_scenario(llama, TextModel::open(llama)->layers(), 0);
  CHECK_CONTAINS(runs.of(compute(without, nullptr), 0)->why, "there is no tokenizer");
}

TEST_CASE("a causal model says what comes next") {
  PredictionRuns runs;
  const ComputationPtr computation = computed_predictions({}, "copycat");
  const WordPredictionsPtr predictions = runs.of(computation, 0);
  REQUIRE(predictions);
  CHECK(word(computation, predictions->positions.back().now[0]) == "apple");
  const WordPredictionsPtr silent = runs.of(computed_predictions({"heads.gain=[0,0,0,0]"}, "copycat"), 0);
  CHECK(silent->positions.back().before[0].now < 0.5);
}
