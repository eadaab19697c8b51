#include "core/train/training_history.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/tensor/error.h"
#include "tests/core/train/small_training.h"

namespace headwise::test {

TEST_CASE(
    "a history keeps evenly spaced states, no more than it may, and leads back to every step with the same "
    "bits") {
  const TrainTask task = named_task("majority");
  TrainingRun<float> run(task, two_head_settings(task, 4, 0.1));
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
  const TrainTask task = named_task("majority");
  TrainingRun<float> run(task, two_head_settings(task, 4, 0.1));
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
