// A watched training: the same numbers as one that nobody watches, whenever it is paused,
// taken back or trained beside another.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "app/session/training_saving.h"
#include "core/lessons/playlist.h"
#include "core/tensor/error.h"
#include "tests/app/session/small_live_training.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
using namespace headwise::test;

namespace {}  // namespace

TEST_CASE("a training that has begun can be looked at before its first step") {
  LiveTraining training;
  CHECK_FALSE(training.begun());
  begin_small(training);
  wait_for(training);
  REQUIRE(training.runs().size() == 1);
  const WatchedRun& run = training.runs().front();
  REQUIRE(run.now);
  CHECK(run.step() == 0);
  CHECK(run.losses.empty());
  CHECK(run.now->habits.size() == 1);
  CHECK(run.now->held_out.counted > 0);
  CHECK(std::ssize(training.tokens()) == training.task().length);
  TrainingRun<float> alone(named_task("previous-token"), small_settings());
  CHECK(same_maps(*run.now, alone));
}

TEST_CASE("a task that cannot begin leaves the training before it as it was") {
  LiveTraining training;
  begin_small(training);
  train_to(training, 3);
  CHECK_THROWS_AS(training.begin({.name = "no such task"}, small_settings()), Error);
  TrainingSettings wrong = small_settings();
  wrong.batch = 0;
  CHECK_THROWS_AS(begin_small(training, wrong), Error);
  CHECK(training.step() == 3);
  CHECK(training.runs().front().reached() == 3);
}

TEST_CASE("watching, pausing and taking single steps change no loss") {
  LiveTraining training;
  begin_small(training);
  training.play(0.0, 40);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    training.pause();
    CHECK_FALSE(training.playing());
    training.play(0.0, 40);
  }
  wait_for(training);
  training.take_step();
  wait_for(training);
  CHECK(training.step() == 41);
  CHECK(losses_of(training.runs().front()) == losses_alone(small_settings(), 41));
}

TEST_CASE("every step of the past is reached again, to the same bits, and training goes on from there") {
  LiveTraining training;
  begin_small(training);
  train_to(training, 30);
  const std::vector<float> losses = losses_of(training.runs().front());
  for (const Index step : {7, 23, 0, 29, 30}) {
    training.go_to(step);
    wait_for(training);
    CHECK(training.step() == step);
    CHECK(training.reached() == 30);
    TrainingRun<float> alone(named_task("previous-token"), small_settings());
    while (alone.step() < step) alone.take_step();
    CHECK(same_maps(*training.runs().front().now, alone));
    CHECK(std::ranges::equal(training.stopped_run().values(), alone.values()));
  }
  training.go_to(11);
  wait_for(training);
  train_to(training, 33);
  CHECK(training.reached() == 33);
  const std::vector<float> after = losses_of(training.runs().front());
  CHECK(std::equal(losses.begin(), losses.end(), after.begin()));
  CHECK(after == losses_alone(small_settings(), 33));
}

TEST_CASE("a second training catches up with the first, and both then take the same steps") {
  LiveTraining training;
  begin_small(training);
  train_to(training, 12);
  const TrainingSettings one_head = *changed_settings(small_settings(), TrainingChange::one_wide_head);
  training.start_variant(TrainingChange::one_wide_head);
  wait_for(training);
  REQUIRE(training.runs().size() == 2);
  CHECK(training.runs()[0].step() == 12);
  CHECK(training.runs()[1].step() == 0);
  CHECK(training.runs()[1].change == TrainingChange::one_wide_head);
  CHECK(training.runs()[1].settings == one_head);
  CHECK_FALSE(training.answer());
  train_to(training, 20);
  CHECK(training.runs()[0].step() == 20);
  CHECK(training.runs()[1].step() == 20);
  CHECK(losses_of(training.runs()[0]) == losses_alone(small_settings(), 20));
  CHECK(losses_of(training.runs()[1]) == losses_alone(one_head, 20));
  training.go_to(5);
  wait_for(training);
  CHECK(training.runs()[0].step() == 5);
  CHECK(training.runs()[1].step() == 5);
  training.end_variant();
  CHECK(training.runs().size() == 1);
  train_to(training, 21);
  CHECK(losses_of(training.runs()[0]) == losses_alone(small_settings(), 21));
}

TEST_CASE("a training that fails stands where it failed, and the one beside it goes on") {
  LiveTraining training;
  TrainingSettings calm = small_settings();
  calm.optimiser.kind = OptimiserKind::sgd;
  calm.optimiser.clip_norm.reset();
  calm.optimiser.learning_rate = 3.0;  // × 30 is too much
  calm.optimiser.warm_up_steps = 0;
  begin_small(training, calm);
  training.start_variant(TrainingChange::high_learning_rate);
  train_to(training, 10);
  CHECK(training.runs()[0].step() == 10);
  REQUIRE(training.runs()[1].failure);
  const Index failed = training.runs()[1].failure->step;
  CHECK(training.runs()[1].step() == failed);
  CHECK(failed < 10);
  CHECK(training.error().empty());
  training.go_to(0);
  wait_for(training);
  CHECK_FALSE(training.runs()[1].failure);
  train_to(training, 10);
  REQUIRE(training.runs()[1].failure);
  CHECK(training.runs()[1].failure->step == failed);
}

TEST_CASE("two trainings that are paused stand at one step") {
  LiveTraining training;
  begin_small(training);
  training.start_variant(TrainingChange::no_scale);
  for (int i = 0; i < 12; ++i) {
    training.play(0.0, 10'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(7 + i));
    training.pause();
    wait_for(training);
    CHECK(training.runs()[0].step() == training.runs()[1].step());
  }
}

TEST_CASE("a head has a habit where it looks much more than at the beginning") {
  TrainedHabits begin, now;
  begin.same_token = 0.45;
  begin.previous_token = 0.1;
  now.same_token = 0.5;
  now.previous_token = 0.2;
  CHECK_FALSE(strongest_habit(now, begin));
  now.previous_token = 0.35;
  CHECK(strongest_habit(now, begin) == Habit::previous_token);
  now.same_token = 0.7;
  CHECK(strongest_habit(now, begin) == Habit::same_token);
  now.induction = 0.9;
  CHECK(strongest_habit(now, begin) == Habit::induction);
}

TEST_CASE("what the change did is said once both trainings stand at one step, from their own numbers") {
  LiveTraining training;
  begin_small(training);
  train_to(training, 6);
  training.start_variant(TrainingChange::equal_heads);
  wait_for(training);
  CHECK_FALSE(training.answer());
  train_to(training, 6);
  for (int i = 0; i < 2000 && !training.answer(); ++i) {
    training.collect_results();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  REQUIRE(training.answer());
  const auto outcome = [](const TrainingSettings& settings) {
    TrainingRun<float> run(named_task("previous-token"), settings);
    std::vector<double> losses;
    while (run.step() < 6) losses.push_back(static_cast<float>(run.take_step()->batch.loss));
    return training_outcome(run, std::span<const double>(losses), 128);
  };
  const ChangeAnswer alone =
      change_answer(TrainingChange::equal_heads, outcome(small_settings()),
                    outcome(*changed_settings(small_settings(), TrainingChange::equal_heads)));
  CHECK(text_of_answer(*training.answer()) == text_of_answer(alone));
  training.take_step();
  CHECK_FALSE(training.answer());
}

TEST_CASE("the past of a long training is bounded, and evenly spaced") {
  LiveTraining training;
  TrainingSettings tiny = small_settings();
  tiny.batch = 1;
  begin_small(training, tiny);
  train_to(training, 700);
  const std::vector<TrainingPointPtr>& past = training.runs().front().past;
  CHECK(past.size() > 64);
  CHECK(past.size() <= 257);
  const Index spacing = past[1]->step - past[0]->step;
  CHECK(past[0]->step == 0);
  for (std::size_t i = 1; i < past.size(); ++i) CHECK(past[i]->step - past[i - 1]->step == spacing);
  CHECK(past.back()->step + spacing >= 700);
}

TEST_CASE("a pause gives up the step under way, and loses none") {
  LiveTraining training;
  TrainingSettings slow = usual_settings(named_task("induction"));
  slow.batch = 512;
  training.begin({.name = "induction"}, slow);
  wait_for(training);
  training.play(0.0, 10'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  training.pause();
  wait_for(training);
  const Index stopped_at = training.step();
  CHECK(training.runs().front().reached() == stopped_at);
  training.take_step();
  wait_for(training);
  CHECK(training.step() == stopped_at + 1);
}

TEST_CASE("what is shown of a step is told while training goes on") {
  int woken = 0;
  LiveTraining training([&woken] { ++woken; });
  TrainingSettings settings = small_settings();
  begin_small(training, settings);
  wait_for(training);
  training.play(200.0, 60);
  Index seen = 0, changes = 0;
  while (training.busy()) {
    training.collect_results();
    if (training.step() != seen) ++changes;
    seen = training.step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(changes > 2);
  CHECK(woken > 2);
}

TEST_CASE("the model of a step is written as a checkpoint that the run can go on from") {
  const TemporaryFolder folder;
  LiveTraining training;
  begin_small(training);
  train_to(training, 9);
  training.go_to(4);
  const std::string path = training.write_checkpoint(folder.file("run"));
  CHECK(path.ends_with("checkpoint-4"));
  const SavedRun saved = read_saved_run(path);
  CHECK(saved.step == 4);
  CHECK(saved.settings == small_settings());
  TrainingRun<float> resumed(named_task("previous-token"), saved.settings);
  resumed.restore(read_training_state<float>(path, saved));
  while (resumed.step() < 9) resumed.take_step();
  training.go_to(9);
  wait_for(training);
  CHECK(std::ranges::equal(training.stopped_run().values(), resumed.values()));
}
