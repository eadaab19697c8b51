// Trainings that wait while another one is watched.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/tensor/error.h"
#include "tests/app/session/small_live_training.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
using namespace headwise::test;

namespace {

TrainingSettings quick_settings(const std::string& task, std::uint64_t seed = 1) {
  TrainingSettings settings = two_head_settings(named_task(task), 4, 0.0);
  settings.seed = seed;
  return settings;
}

void begin_quick(LiveTraining& training, const std::string& task, Index steps, std::uint64_t seed = 1) {
  training.begin({.name = task}, quick_settings(task, seed));
  train_to(training, steps);
}

std::vector<float> losses_seen(const LiveTraining& training) {
  std::vector<float> losses;
  for (const TrainingLoss& loss : training.runs().front().losses) losses.push_back(loss.loss);
  return losses;
}

}  // namespace

TEST_CASE("a training that took steps is kept when another one begins, and goes on where it stood") {
  LiveTraining training;
  begin_quick(training, "previous-token", 6);
  const int number = training.number();
  const std::vector<float> losses = losses_seen(training);
  const std::vector<std::int32_t> tokens = training.tokens();
  CHECK(training.kept().empty());
  begin_quick(training, "majority", 3);
  REQUIRE(training.kept().size() == 1);
  CHECK(training.kept()[0].number == number);
  CHECK(training.kept()[0].name == "previous-token");
  CHECK(training.kept()[0].reached == 6);
  training.return_to(number);
  wait_for(training);
  CHECK(training.number() == number);
  CHECK(training.name() == "previous-token");
  CHECK(training.task().name == "previous-token");
  CHECK(training.tokens() == tokens);
  CHECK(training.step() == 6);
  CHECK(losses_seen(training) == losses);
  REQUIRE(training.kept().size() == 1);
  CHECK(training.kept()[0].name == "majority");
  CHECK(training.kept()[0].reached == 3);
  // Its past is there, and its future is that of a training that was never left.
  training.go_to(2);
  wait_for(training);
  CHECK(training.step() == 2);
  training.play(0.0, 9);
  wait_for(training);
  LiveTraining alone;
  begin_quick(alone, "previous-token", 9);
  CHECK(losses_seen(training) == losses_seen(alone));
  CHECK(std::ranges::equal(training.stopped_run().values(), alone.stopped_run().values()));
}

TEST_CASE("a training is kept with the one beside it") {
  LiveTraining training;
  begin_quick(training, "previous-token", 4);
  training.start_variant(TrainingChange::no_scale);
  training.play(0.0, 5);
  wait_for(training);
  const int number = training.number();
  begin_quick(training, "majority", 1);
  CHECK(training.runs().size() == 1);
  training.return_to(number);
  wait_for(training);
  REQUIRE(training.runs().size() == 2);
  CHECK(training.runs()[1].change == TrainingChange::no_scale);
  CHECK(training.runs()[0].step() == 5);
  CHECK(training.runs()[1].step() == 5);
}

TEST_CASE("the last two changes that were trained beside come back with their steps") {
  LiveTraining training;
  begin_quick(training, "previous-token", 3);
  const auto train_beside = [&](TrainingChange change, Index steps) {
    training.start_variant(change);
    train_to(training, steps);
  };
  const auto begin_again = [&](TrainingChange change) {
    training.start_variant(change);
    wait_for(training);
    REQUIRE(training.runs().size() == 2);
    CHECK(training.runs()[1].change == change);
    return training.runs()[1].reached();
  };
  train_beside(TrainingChange::no_scale, 4);
  const float loss = training.runs()[1].losses[3].loss;
  train_beside(TrainingChange::one_head, 8);
  CHECK(begin_again(TrainingChange::no_scale) == 4);
  CHECK(training.runs()[1].step() == 4);
  CHECK(training.runs()[1].losses[3].loss == loss);
  training.end_variant();
  CHECK(training.runs().size() == 1);
  CHECK(begin_again(TrainingChange::no_scale) == 4);
  // Chosen once more, it stays.
  CHECK(begin_again(TrainingChange::no_scale) == 4);
  // It goes on as if it had never been away.
  train_to(training, 9);
  LiveTraining alone;
  alone.begin({.name = "previous-token"},
              *changed_settings(quick_settings("previous-token"), TrainingChange::no_scale));
  train_to(alone, 9);
  CHECK(std::ranges::equal(training.stopped_run(1).values(), alone.stopped_run().values()));
  // With the whole training, too.
  const int number = training.number();
  begin_quick(training, "majority", 4);
  CHECK(begin_again(TrainingChange::no_scale) == 0);
  training.return_to(number);
  wait_for(training);
  train_to(training, 12);
  CHECK(begin_again(TrainingChange::one_head) == 8);
  // The oldest of three is forgotten.
  train_beside(TrainingChange::no_positions, 14);
  train_beside(TrainingChange::no_causal_mask, 14);
  CHECK(begin_again(TrainingChange::one_head) == 8);
  CHECK(begin_again(TrainingChange::no_scale) == 0);
}

TEST_CASE("a training without a step is not kept, and one that is running is") {
  LiveTraining training;
  begin_quick(training, "previous-token", 0);
  begin_quick(training, "majority", 0);
  CHECK(training.kept().empty());
  training.play(0.0, 100'000);
  while (training.reached() < 3) {
    training.collect_results();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  begin_quick(training, "previous-token", 0);
  REQUIRE(training.kept().size() == 1);
  CHECK(training.kept()[0].reached >= 3);
  training.return_to(training.kept()[0].number);
  wait_for(training);
  CHECK(training.runs().front().reached() == training.step());
  CHECK(training.kept().empty());
}

TEST_CASE("the last four trainings are kept, the latest first") {
  LiveTraining training;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    begin_quick(training, "majority", static_cast<Index>(seed), seed);
  std::vector<Index> reached;
  for (const KeptTraining& kept : training.kept()) reached.push_back(kept.reached);
  CHECK(reached == std::vector<Index>{5, 4, 3, 2});
  CHECK(training.kept()[0].settings.seed == 5);
  const int number = training.number();
  training.return_to(12345);  // there is none
  CHECK(training.number() == number);
}

TEST_CASE("a training that cannot begin keeps nothing aside") {
  LiveTraining training;
  begin_quick(training, "majority", 2);
  TrainingSettings wrong = quick_settings("majority");
  wrong.batch = 0;
  CHECK_THROWS_AS(training.begin({.name = "majority"}, wrong), Error);
  CHECK(training.kept().empty());
  CHECK(training.step() == 2);
}

TEST_CASE("a training on a file has the name of the file") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "a cat sat. ";
  folder.with_file("story.txt", text);
  LiveTraining training;
  TaskSource source{.name = "file", .file = folder.file("story.txt")};
  const TrainTask task = task_of(source);
  training.begin(source, two_head_settings(task, 2, 0.0));
  CHECK(training.name() == "story.txt");
  CHECK(training.task().length == 43);
}
