#include "core/train/training_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"
#include "core/train/training_history.h"
#include "tests/checks.h"
#include "tests/core/train/small_training.h"

namespace headwise::test {
namespace {

TrainingSettings small_settings(const TrainTask& task) {
  TrainingSettings settings = usual_settings(task);
  settings.model.width = 32;
  settings.model.heads = settings.model.kv_heads = 4;
  settings.batch = 16;
  return settings;
}

template <class T>
std::vector<T> values_after(TrainingRun<T>& run, Index steps) {
  for (Index i = 0; i < steps; ++i) REQUIRE(run.take_step());
  return {run.values().begin(), run.values().end()};
}

template <class T>
void check_resumed(const TrainTask& task, const TrainingSettings& settings) {
  TrainingRun<T> whole(task, settings), half(task, settings), rest(task, settings);
  const std::vector<T> expected = values_after(whole, 9);
  values_after(half, 4);
  const TrainingState<T> state = half.state();
  CHECK(state.step == 4);
  rest.restore(state);
  CHECK(values_after(rest, 5) == expected);
  CHECK(rest.step() == 9);
  CHECK(std::ranges::equal(rest.optimiser().second(), whole.optimiser().second()));
}

}  // namespace

TEST_CASE("a run that is resumed from its state is one that never stopped, bit for bit") {
  const TrainTask task = named_task("induction");
  TrainingSettings settings = small_settings(task);
  settings.model.dropout = 0.1;
  settings.optimiser.warm_up_steps = 3;
  settings.optimiser.cosine_steps = 8;
  check_resumed<float>(task, settings);
  check_resumed<double>(task, settings);
  settings.optimiser.kind = OptimiserKind::momentum;
  check_resumed<float>(task, settings);
}

TEST_CASE("a run has the same bits for 1, 2 and 5 threads, and others under another seed") {
  const TrainTask task = named_task("lookup");
  TrainingSettings settings = small_settings(task);
  settings.batch = 64;
  settings.model.dropout = 0.1;
  std::vector<float> first;
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    TrainingRun<float> run(task, settings);
    const std::vector<float> values = values_after(run, 5);
    if (first.empty()) first = values;
    CHECK(values == first);
  }
  settings.seed = 2;
  TrainingRun<float> other(task, settings);
  CHECK(values_after(other, 5) != first);
}

TEST_CASE("a model learns to repeat the token before, by a head that looks there") {
  const TrainTask task = named_task("previous-token");
  TrainingRun<float> run(task, small_settings(task));
  const BatchResult before = run.held_out();
  const auto strongest = [&] {
    double most = 0.0;
    for (const auto& layer : run.habits())
      for (const TrainedHabits& head : layer) most = std::max(most, head.previous_token.value_or(0.0));
    return most;
  };
  CHECK(strongest() < 0.4);
  CHECK(before.loss > 2.0);
  values_after(run, 250);
  const BatchResult after = run.held_out();
  CHECK(after.loss < 0.2 * before.loss);
  CHECK(after.correct > 0.95 * static_cast<double>(after.counted));
  CHECK(strongest() > 0.7);
}

TEST_CASE("heads that begin equal stay equal in every step, and frozen heads stay as they began") {
  const TrainTask task = named_task("reverse");
  TrainingSettings settings = small_settings(task);
  settings.model.heads_begin_equal = true;
  TrainingRun<float> equal(task, settings);
  values_after(equal, 10);
  for (const TrainParameter& parameter : equal.parameters()) {
    if (parameter.role != TrainRole::in_weight && parameter.role != TrainRole::in_bias) continue;
    const Index of_head = parameter.size() / 12;  // of 4 heads' q, k and v
    Index different = 0;
    for (Index head = 1; head < 4; ++head)
      for (Index i = 0; i < of_head; ++i)
        different += equal.values()[static_cast<std::size_t>(parameter.offset + head * of_head + i)] !=
                     equal.values()[static_cast<std::size_t>(parameter.offset + i)];
    CHECK(different == 0);
  }
  settings.model.heads_begin_equal = false;
  settings.model.frozen_heads = {{0, 1}};
  TrainingRun<float> frozen(task, settings);
  const std::vector<float> begun(frozen.values().begin(), frozen.values().end()),
      trained = values_after(frozen, 10);
  const std::vector<std::uint8_t> stays = frozen_values(settings.model, frozen.parameters());
  Index kept = 0, changed = 0;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (stays[i]) CHECK(trained[i] == begun[i]);
    kept += stays[i] && trained[i] == begun[i];
    changed += !stays[i] && trained[i] != begun[i];
  }
  CHECK(kept > 0);
  CHECK(changed > 1000);
}

TEST_CASE(
    "a run whose numbers are no longer finite stops before it changes anything, and says where it began") {
  const TrainTask task = named_task("induction");
  TrainingRun<float> run(task, small_settings(task));
  values_after(run, 3);
  TrainingState<float> state = run.state();
  const auto poison = [&](TrainRole role, Index layer, float value) {
    TrainingState<float> poisoned = state;
    for (const TrainParameter& parameter : run.parameters())
      if (parameter.role == role && parameter.layer == layer)
        poisoned.values[static_cast<std::size_t>(parameter.offset)] = value;
    run.restore(poisoned);
    CHECK(!run.take_step());
    REQUIRE(run.failure());
    CHECK(run.failure()->step == 3);
    CHECK(run.failure()->what.starts_with("step 3: "));
    CHECK_CONTAINS(run.failure()->what, run.failure()->tensor);
    CHECK(run.step() == 3);
    CHECK_THROWS_AS(run.take_step(), Error);
    return run.failure()->tensor;
  };
  CHECK(poison(TrainRole::in_weight, 1, NAN) == "layers.1.q_k_v");
  CHECK(poison(TrainRole::linear1_bias, 0, INFINITY) == "layers.0.hidden");
  CHECK(poison(TrainRole::norm1_weight, 0, NAN) == "layers.0.attention_input");
  run.restore(state);
  CHECK(run.take_step());
}

TEST_CASE("a learning rate that is far too high ends in a failure and not in numbers that mean nothing") {
  const TrainTask task = named_task("sort");
  TrainingSettings settings = small_settings(task);
  settings.model.norms = false;
  settings.optimiser = {.kind = OptimiserKind::sgd, .learning_rate = 1e4};
  TrainingRun<float> run(task, settings);
  for (int i = 0; i < 100 && !run.failure(); ++i) run.take_step();
  REQUIRE(run.failure());
  CHECK_CONTAINS(run.failure()->what, "learning rate");
  for (const float value : run.values()) REQUIRE(std::isfinite(value));
}

TEST_CASE("each step and each layer drops other weights, and none are dropped without dropout") {
  TrainingSettings settings = small_settings(named_task("induction"));
  CHECK(dropout_seeds_of(settings, 0).empty());
  settings.model.dropout = 0.1;
  std::set<std::uint64_t> seeds;
  for (Index step = 0; step < 10; ++step)
    for (const std::uint64_t seed : dropout_seeds_of(settings, step)) seeds.insert(seed);
  CHECK(seeds.size() == 10 * 2);
  CHECK(dropout_seeds_of(settings, 3) == dropout_seeds_of(settings, 3));
  settings.seed = 2;
  for (const std::uint64_t seed : dropout_seeds_of(settings, 3)) CHECK(!seeds.contains(seed));
}

TEST_CASE("settings that do not fit the task are refused") {
  const TrainTask task = named_task("sort");
  const auto refused = [&](auto&& change) {
    TrainingSettings settings = small_settings(task);
    change(settings);
    CHECK_THROWS_AS(TrainingRun<float>(task, settings), Error);
  };
  refused([](TrainingSettings& s) { s.batch = 0; });
  refused([](TrainingSettings& s) { s.model.vocabulary = 5; });
  refused([](TrainingSettings& s) { s.model.longest_sequence = 8; });
  refused([](TrainingSettings& s) { s.optimiser.learning_rate = -1; });
  refused([](TrainingSettings& s) { s.model.heads = 5; });
  TrainingRun<float> run(task, small_settings(task));
  CHECK_THROWS_AS(run.restore({3, std::vector<float>(7), {}, {}}), Error);
}

TEST_CASE(
    "a history keeps evenly spaced states, no more than it may, and leads back to every step with the same "
    "bits") {
  auto [source, task, run] = SmallRun("majority", 4, 0.1);
  TrainingHistory<float> history(5);
  std::map<Index, std::vector<float>> values;
  history.keep(run);
  values[0] = {run.values().begin(), run.values().end()};
  for (Index step = 1; step <= 37; ++step) {
    REQUIRE(run.take_step());
    history.keep(run);
    values[step] = {run.values().begin(), run.values().end()};
    const std::vector<Index> kept = history.steps();
    REQUIRE(kept.size() <= 5);
    for (std::size_t i = 0; i < kept.size(); ++i)
      REQUIRE(kept[i] == static_cast<Index>(i) * history.spacing());
    REQUIRE(step - kept.back() < history.spacing());
  }
  CHECK(history.spacing() == 8);
  for (const Index step : {37, 0, 3, 31, 32, 9, 10, 36}) {
    history.go_to(run, step);
    CHECK(run.step() == step);
    CHECK(std::ranges::equal(run.values(), values[step]));
    history.keep(run);
    CHECK(history.steps().size() <= 5);
  }
}

TEST_CASE("states that are held stay, and as many are kept in all") {
  auto [source, task, run] = SmallRun("majority", 4, 0.1);
  TrainingHistory<float> history(6);
  history.keep(run);
  std::vector<float> at_seven;
  for (Index step = 1; step <= 40; ++step) {
    REQUIRE(run.take_step());
    if (step == 7) at_seven = {run.values().begin(), run.values().end()};
    if (step == 7 || step == 11) history.hold(run.state());
    history.keep(run);
    REQUIRE(history.steps().size() <= 6);
  }
  CHECK(history.steps() == std::vector<Index>{0, 7, 11, 16, 32});
  history.hold(run.state());
  history.hold(run.state());  // it is held already
  CHECK_THROWS_AS(history.hold({41, {}, {}, {}}), Error);
  history.go_to(run, 9);
  CHECK(run.step() == 9);
  history.go_to(run, 7);
  CHECK(std::ranges::equal(run.values(), at_seven));
}

TEST_CASE("a history without a state before a step refuses to go there, and says how large it may become") {
  const TrainTask task = named_task("majority");
  const TrainingSettings settings = two_head_settings(task, 4, 0.1);
  TrainingRun<float> run(task, settings);
  const TrainingHistory<float> none(4);
  none.go_to(run, 2);  // the run is before it
  CHECK(run.step() == 2);
  CHECK_THROWS_AS(none.go_to(run, 1), Error);
  const TrainingState<float> state = run.state();
  const std::size_t numbers = state.values.size() + state.first.size() + state.second.size();
  CHECK(TrainingHistory<float>::bytes(settings, 10) == static_cast<Index>(10 * numbers * sizeof(float)));
  CHECK(TrainingHistory<double>::bytes(settings, 10) == 2 * TrainingHistory<float>::bytes(settings, 10));
}

}  // namespace headwise::test
