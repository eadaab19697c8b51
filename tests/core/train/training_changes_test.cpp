// What a change does to a training's settings, and what a run comes to in numbers.
#include "core/train/training_changes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/tensor/error.h"
#include "core/train/training_outcome.h"
#include "tests/checks.h"
#include "tests/core/train/small_training.h"

namespace headwise::test {
namespace {

TrainingSettings settings_of_induction() {
  TrainingSettings settings = usual_settings(named_task("induction"));
  settings.model.width = 32;
  settings.model.heads = settings.model.kv_heads = 4;
  return settings;
}

Index parameters_of(const TrainingSettings& settings) {
  return train_parameter_count(train_parameters(settings.model));
}

}  // namespace

TEST_CASE(
    "each change of a training has a name, a label and a question, and changes the usual settings of a "
    "task") {
  std::set<std::string_view> names, labels;
  const TrainingSettings usual = settings_of_induction();
  for (const TrainingChangeEntry& entry : training_change_entries()) {
    CAPTURE(std::string(entry.name));
    names.insert(entry.name);
    labels.insert(entry.label);
    CHECK(&training_change_entry(entry.change) == &entry);
    CHECK(training_change_named("--beside", std::string(entry.name)) == entry.change);
    CHECK(entry.question.ends_with("?"));
    const std::optional<TrainingSettings> changed = changed_settings(usual, entry.change);
    CHECK(changed.has_value() == (entry.change != TrainingChange::learned_positions));
    if (!changed) continue;
    CHECK(*changed != usual);
    CHECK(changed->seed == usual.seed);
    CHECK(changed->batch == usual.batch);
    CHECK_NOTHROW(check_train_model(changed->model));
    // Of the usual four heads half are left, which cannot be halved again: two are no group.
    CHECK(changed_settings(*changed, entry.change).has_value() ==
          (entry.change == TrainingChange::high_learning_rate ||
           entry.change == TrainingChange::qk_norm_high_learning_rate));
  }
  CHECK(names.size() == training_change_entries().size());
  CHECK(labels.size() == training_change_entries().size());
  CHECK_THROWS_AS(training_change_named("--beside", "two-wide-heads"), Error);
}

TEST_CASE("one wide head has as many parameters as the heads it stands for, and one head has fewer") {
  const TrainingSettings usual = settings_of_induction();
  const TrainingSettings wide = *changed_settings(usual, TrainingChange::one_wide_head),
                         narrow = *changed_settings(usual, TrainingChange::one_head),
                         half = *changed_settings(usual, TrainingChange::half_the_heads);
  CHECK(wide.model.heads == 1);
  CHECK(head_width_of(wide.model) == 32);
  CHECK(parameters_of(wide) == parameters_of(usual));
  CHECK(head_width_of(narrow.model) == 8);
  CHECK(half.model.heads == 2);
  CHECK(head_width_of(half.model) == 8);
  CHECK(parameters_of(narrow) < parameters_of(half));
  CHECK(parameters_of(half) < parameters_of(usual));
}

TEST_CASE(
    "a change that cannot be trained is none: fewer heads without W_O, grouped heads of three, a frozen head "
    "that is gone") {
  TrainingSettings settings = settings_of_induction();
  settings.model.out_projection = false;
  CHECK(!changed_settings(settings, TrainingChange::one_head));
  CHECK(changed_settings(settings, TrainingChange::one_wide_head));
  settings = settings_of_induction();
  settings.model.head_width = 8;
  settings.model.heads = settings.model.kv_heads = 3;
  CHECK(!changed_settings(settings, TrainingChange::grouped_keys));
  CHECK(!changed_settings(settings, TrainingChange::no_out_projection));
  settings = settings_of_induction();
  settings.model.frozen_heads = {{1, 3}};
  CHECK(!changed_settings(settings, TrainingChange::half_the_heads));
  settings.model.kv_heads = 2;
  CHECK(!changed_settings(settings, TrainingChange::one_wide_head));
  settings.model.heads = settings.model.kv_heads = 8;
  settings.model.head_width = 3;
  CHECK(!changed_settings(settings, TrainingChange::rotary_positions));
}

TEST_CASE("heads that begin equal are zero apart, in numbers and gradients, and other heads are not") {
  const TrainTask task = named_task("reverse");
  TrainingSettings settings = two_head_settings(task, 8, 0.0);
  std::vector<double> losses;
  const auto trained = [&](const TrainingSettings& of) {
    TrainingRun<float> run(task, of);
    losses.clear();
    for (int i = 0; i < 5; ++i) losses.push_back(run.take_step()->batch.loss);
    return training_outcome(run, std::span<const double>(losses), 8);
  };
  const TrainingOutcome usual = trained(settings),
                        equal = trained(*changed_settings(settings, TrainingChange::equal_heads));
  CHECK(equal.heads_apart == 0.0);
  CHECK(equal.head_gradients_apart == 0.0);
  CHECK(equal.maps_apart == std::vector<double>{0.0, 0.0});
  CHECK(usual.heads_apart > 0.1);
  CHECK(usual.head_gradients_apart > 0.1);
  CHECK(usual.maps_apart[0] > 0.0);
  // Random columns of W_O hand them other gradients.
  const TrainingOutcome parted = trained(*changed_settings(settings, TrainingChange::equal_but_output));
  CHECK(parted.heads_apart > 0.1);
  CHECK(parted.maps_apart[0] > 1e-6);
  // With dropout each head drops other weights.
  settings.model.heads_begin_equal = true;
  settings.model.dropout = 0.2;
  CHECK(trained(settings).head_gradients_apart > 0.01);
}

TEST_CASE("an outcome measures a run without changing what it goes on from") {
  const TrainTask task = named_task("induction");
  const TrainingSettings settings =
      *changed_settings(two_head_settings(task, 8, 0.0), TrainingChange::no_causal_mask);
  TrainingRun<float> measured(task, settings), alone(task, settings);
  const std::vector<double> losses{measured.take_step()->batch.loss};
  alone.take_step();
  const TrainingOutcome outcome = training_outcome(measured, std::span<const double>(losses), 16);
  CHECK(outcome.steps == 1);
  CHECK(outcome.first_loss == losses[0]);
  CHECK(outcome.parameters == train_parameter_count(measured.parameters()));
  REQUIRE(outcome.held_out_causal);
  CHECK(outcome.held_out_causal->counted == outcome.held_out.counted);
  CHECK(outcome.held_out_causal->loss != outcome.held_out.loss);
  CHECK(outcome.next_answers > 0.9);
  CHECK(outcome.guessed < 0.2);
  CHECK(outcome.habits[0][0].next_token);
  CHECK(measured.take_step()->batch.loss == alone.take_step()->batch.loss);
}

TEST_CASE("a run has learned at the first step whose loss is below a fifth of the first") {
  const auto learned = [](std::vector<double> losses) { return learned_step(losses); };
  CHECK(learned({5.0, 4.0, 1.1, 0.99, 2.0, 0.5}) == std::optional<Index>(3));
  CHECK(!learned({5.0, 4.0, 1.0}));
  CHECK(!learned({}));
}

TEST_CASE("maps are apart by half the sum of their differences") {
  Tensor map(Shape{{"N", 1}, {"H", 2}, {"L", 2}, {"S", 2}}, DType::f64);
  const double values[] = {1, 0, 0.5, 0.5, 0, 1, 0.5, 0.5};
  for (Index i = 0; i < 8; ++i) map.set_flat(i, values[i]);
  CHECK(maps_apart(map) == doctest::Approx(0.5));
}

TEST_CASE("what a run measures of sinks, gates and biases is what its numbers are") {
  TrainingSettings settings = settings_of_induction();
  settings.model.sink = settings.model.output_gate = true;
  settings.model.positions = TrainPositions::relative_bias;
  TrainingRun<float> run(named_task("induction"), settings);
  const auto value = [](const TrainingRun<float>& of, TrainRole role, Index layer, Index i) {
    for (const TrainParameter& parameter : of.parameters())
      if (parameter.role == role && parameter.layer == layer) return parameter.offset + i;
    FAIL("no such parameter");
    return Index{0};
  };
  TrainingState<float> state = run.state();
  // A sink far above all scores takes everything; a gate that is 0 before σ is half open.
  state.values[static_cast<std::size_t>(value(run, TrainRole::sinks, 1, 2))] = 100.0f;
  for (Index i = 0; i < 8 * 32; ++i)
    state.values[static_cast<std::size_t>(value(run, TrainRole::gate_weight, 0, i))] = 0.0f;
  state.values[static_cast<std::size_t>(value(run, TrainRole::relative_bias, 0, 3 * 4 + 1))] = 9.0f;
  run.restore(state);
  const TrainingOutcome of = training_outcome(run, std::vector<double>{3.0}, 4);
  CHECK(*of.habits[1][2].sink == doctest::Approx(1.0));
  CHECK(*of.habits[1][2].first_token == doctest::Approx(0.0));
  CHECK(*of.habits[0][0].sink < 0.5);
  CHECK(of.gates[0][0].mean == doctest::Approx(0.5));
  CHECK(of.gates[0][0].most == doctest::Approx(0.5));
  CHECK(of.gates[1][0].most > of.gates[1][0].least);
  REQUIRE(of.biases.size() == 4);
  CHECK(of.biases[1].distance == 3);
  CHECK(of.biases[1].above > 8.0);
}

}  // namespace headwise::test
