// A watched training that goes on from a folder with checkpoints.
#include <algorithm>
#include <filesystem>

#include "app/session/training_saving.h"
#include "core/tensor/error.h"
#include "tests/app/session/small_live_training.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// A folder with a training of 12 steps, of which some are checkpoints.
std::string saved_small(const TemporaryFolder& folder) {
  LiveTraining training;
  begin_small(training);
  train_to(training, 12);
  training.save(TrainingForm::folder, folder.file("run"), Theme::dark);
  wait_for(training);
  for (const Index step : {1, 2, 3, 5, 6, 7, 8, 10, 11})
    std::filesystem::remove_all(checkpoint_path(folder.file("run"), step));
  return folder.file("run");
}

std::string refusal_to_go_on(LiveTraining& training, const std::string& folder) {
  return test::refusal_line([&] { training.resume_saved(folder, 0); });
}

}  // namespace

TEST_CASE("a training in a folder goes on as if it had never stopped, and its past is there") {
  const TemporaryFolder folder;
  const std::string saved = saved_small(folder);
  LiveTraining training;
  training.resume_saved(saved, 4);
  wait_for(training);
  CHECK(training.error().empty());
  CHECK(training.saved_folder() == saved);
  CHECK(training.step() == 4);
  CHECK(training.reached() == 12);
  const WatchedRun& run = training.runs().front();
  CHECK(run.losses_from == 0);
  CHECK(losses_of(run) == losses_alone(small_settings(), 12));
  std::vector<Index> measured;
  for (const TrainingPointPtr& point : run.past) measured.push_back(point->step);
  CHECK(measured == std::vector<Index>{0, 4, 9});
  TrainingRun<float> alone(named_task("previous-token"), small_settings());
  for (const Index step : {12, 7, 9, 0}) {
    training.go_to(step);
    wait_for(training);
    CHECK(training.step() == step);
  }
  while (alone.step() < 7) alone.take_step();
  training.go_to(7);
  wait_for(training);
  CHECK(same_maps(*training.runs().front().now, alone));
  train_to(training, 20);
  CHECK(losses_of(training.runs().front()) == losses_alone(small_settings(), 20));
  while (alone.step() < 20) alone.take_step();
  CHECK(std::ranges::equal(training.stopped_run().values(), alone.values()));
  // Saved again, it has the whole curve.
  training.save(TrainingForm::folder, folder.file("again"), Theme::dark);
  wait_for(training);
  const std::string curve = content_of(folder.file("again") + "/curve.csv");
  CHECK(std::ranges::count(curve, '\n') == 21);
  CHECK(curve.starts_with(content_of(saved + "/curve.csv")));
  begin_small(training);
  CHECK(training.saved_folder().empty());
}

TEST_CASE("a training that goes on stands at its newest step, even where what follows is given up at once") {
  const TemporaryFolder folder;
  const std::string saved = saved_small(folder);
  LiveTraining training;
  training.resume_saved(saved, 4);
  training.play(0.0, 15);
  wait_for(training);
  CHECK(training.error().empty());
  CHECK(training.runs().front().past.front()->step == 0);
  TrainingRun<float> alone(named_task("previous-token"), small_settings());
  while (alone.step() < training.step()) alone.take_step();
  CHECK(std::ranges::equal(training.stopped_run().values(), alone.values()));
  CHECK(training.reached() == 15);
  CHECK(losses_of(training.runs().front()) == losses_alone(small_settings(), 15));
}

TEST_CASE(
    "a training goes on from its newest checkpoint alone, and says from where on its losses are known") {
  const TemporaryFolder folder;
  const std::string saved = saved_small(folder);
  for (const Index step : {0, 4, 9}) std::filesystem::remove_all(checkpoint_path(saved, step));
  std::filesystem::remove(saved + "/curve.csv");
  LiveTraining training;
  training.resume_saved(saved, 12);
  wait_for(training);
  CHECK(training.step() == 12);
  CHECK(training.runs().front().losses_from == 12);
  CHECK(training.runs().front().loss_of(11) == nullptr);
  train_to(training, 14);
  REQUIRE(training.runs().front().loss_of(13));
  CHECK(training.runs().front().loss_of(13)->loss == losses_alone(small_settings(), 14)[13]);
  // What is not known of one training is not compared with another.
  training.start_variant(TrainingChange::no_scale);
  train_to(training, 14);
  CHECK(training.runs()[1].step() == 14);
  CHECK_FALSE(training.answer());
  folder.with_file("run/curve.csv", "step,loss\n9,2.5,0.25,\n11,1.5,0.5,\n10,2,0.5,\n4,3,0.1,\n99,1,1,\n");
  training.resume_saved(saved, 12);
  wait_for(training);
  CHECK(training.runs().front().losses_from == 9);
  CHECK(training.runs().front().loss_of(10)->loss == 2.0f);
}

TEST_CASE("what cannot go on is refused in one sentence, and the training before stays") {
  const TemporaryFolder folder;
  LiveTraining training;
  begin_small(training);
  train_to(training, 2);
  CHECK_CONTAINS(refusal_to_go_on(training, folder.file("nothing")), "no checkpoint to go on from");
  TaskSource source{.name = "previous-token"};
  TrainingRun<double> wide(task_of(source), small_settings());
  write_checkpoint(folder.file("wide"), source, wide);
  CHECK_CONTAINS(refusal_to_go_on(training, folder.file("wide")), "headwise train --resume");
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat sat on the mat. ";
  TaskSource file{.name = "file", .file = folder.with_file("story.txt", text)};
  TrainingRun<float> reads(task_of(file), two_head_settings(task_of(file), 8, 0.0));
  write_checkpoint(folder.file("reads"), file, reads);
  CHECK(refusal_to_go_on(training, folder.file("reads")).empty());
  begin_small(training);
  train_to(training, 2);
  folder.with_file("story.txt", text + "And so on.");
  CHECK_CONTAINS(refusal_to_go_on(training, folder.file("reads")), "story.txt");
  const std::string saved = saved_small(folder);
  folder.with_file("run/checkpoint-12/optimizer.safetensors", "");
  CHECK_CONTAINS(refusal_to_go_on(training, saved), "optimizer.safetensors");
  CHECK(training.step() == 2);
  CHECK(training.source().name == "previous-token");
  CHECK(training.saved_folder().empty());
}
