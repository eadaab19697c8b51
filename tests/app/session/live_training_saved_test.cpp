// A watched training that is saved, and goes on from what was saved.
#include <algorithm>
#include <filesystem>

#include "app/session/training_saving.h"
#include "core/lessons/playlist.h"
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

TEST_CASE("a training goes on from its newest checkpoint, and says from where on its losses are known") {
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

TEST_CASE("a training is saved as checkpoints, and stands where it stood") {
  const TemporaryFolder folder;
  LiveTraining training;
  begin_small(training);
  train_to(training, 12);
  training.go_to(5);
  wait_for(training);
  training.save(TrainingForm::folder, folder.file("run"), Theme::dark);
  CHECK(training.saving());
  wait_for(training);
  CHECK(training.take_saved() == "Saved the training as a folder of checkpoints in " + folder.file("run"));
  CHECK(training.take_saved().empty());
  CHECK(training.step() == 5);
  CHECK(training.reached() == 12);
  const std::vector<Index> steps = checkpoint_steps(folder.file("run"));
  CHECK(steps.front() == 0);
  CHECK(steps.back() == 12);
  for (const Index step : steps)
    CHECK(read_saved_run(checkpoint_path(folder.file("run"), step)).step == step);
  TrainingRun<float> alone(named_task("previous-token"), small_settings());
  while (alone.step() < 12) alone.take_step();
  const std::string last = checkpoint_path(folder.file("run"), 12);
  CHECK(std::ranges::equal(read_training_state<float>(last, read_saved_run(last)).values, alone.values()));
  const std::string curve = content_of(folder.file("run") + "/curve.csv");
  CHECK(std::ranges::count(curve, '\n') == 13);
  // Held-out examples were measured where it stood still, and at most steps on the way.
  CHECK(curve.back() == '\n');
  CHECK(curve.substr(0, curve.size() - 1).back() != ',');
  // Nor are other files mixed with it.
  std::filesystem::create_directory(folder.file("mine"));
  folder.with_file("mine/notes.txt", "x");
  training.save(TrainingForm::folder, folder.file("mine"), Theme::dark);
  wait_for(training);
  CHECK_CONTAINS(training.error(), "there are other files in this folder");
  CHECK(checkpoint_steps(folder.file("mine")).empty());
  // A folder with a training is not written over.
  training.save(TrainingForm::folder, folder.file("run"), Theme::dark);
  wait_for(training);
  CHECK_CONTAINS(training.error(), "there are checkpoints of a training in this folder already");
  CHECK(training.take_saved().empty());
  CHECK(training.step() == 5);
}

TEST_CASE("a training is saved as a moving picture, a program and pages of a lesson") {
  const TemporaryFolder folder;
  LiveTraining training;
  begin_small(training);
  train_to(training, 6);
  training.save(TrainingForm::picture, folder.file("a.png"), Theme::light);
  wait_for(training);
  const std::string picture = content_of(folder.file("a.png"));
  CHECK(picture.starts_with("\x89PNG"));
  CHECK_CONTAINS(picture, "acTL");
  training.save(TrainingForm::program, folder.file("p.py"), Theme::light);
  wait_for(training);
  CHECK_CONTAINS(content_of(folder.file("p.py")), "import torch");
  training.save(TrainingForm::pages, folder.file("lesson.json"), Theme::light);
  wait_for(training);
  CHECK(training.error() == "");
  const Playlist pages = read_playlist_file(folder.file("lesson.json"));
  REQUIRE(pages.pages.size() == checkpoint_steps(folder.file("lesson")).size());
  CHECK(pages.pages.front().title == "Step 0");
  CHECK(pages.pages.back().title == "Step 6");
  CHECK(pages.pages.back().view == StageView::all_heads);
  CHECK_CONTAINS(pages.pages.back().caption, "{trained step} steps");
  CHECK(pages.pages.back().scenario->parameters.file->ends_with("checkpoint-6"));
}

TEST_CASE("the second of two trainings is saved as the first is, with its own settings and numbers") {
  const TemporaryFolder folder;
  LiveTraining training;
  begin_small(training);
  training.start_variant(TrainingChange::one_wide_head);
  train_to(training, 4);
  training.save(TrainingForm::folder, folder.file("wide"), Theme::dark, 1);
  wait_for(training);
  const std::string last = checkpoint_path(folder.file("wide"), 4);
  const SavedRun saved = read_saved_run(last);
  CHECK(saved.settings == *changed_settings(small_settings(), TrainingChange::one_wide_head));
  TrainingRun<float> alone(named_task("previous-token"), saved.settings);
  while (alone.step() < 4) alone.take_step();
  CHECK(std::ranges::equal(read_training_state<float>(last, saved).values, alone.values()));
  CHECK(std::ranges::count(content_of(folder.file("wide") + "/curve.csv"), '\n') == 5);
  training.save(TrainingForm::pages, folder.file("lesson.json"), Theme::dark, 1);
  wait_for(training);
  CHECK(read_playlist_file(folder.file("lesson.json")).title.ends_with("previous-token, with one wide head"));
}

TEST_CASE("a moving picture shows the map of every head, at its step") {
  LiveTraining training;
  begin_small(training);
  train_to(training, 3);
  const WatchedRun& run = training.runs().front();
  const Picture picture = training_picture(run, *run.past[1], "a title", Theme::dark);
  CHECK(picture.planes.size() == 2);
  CHECK(picture.planes[1].spec.values.value(3, 2) == run.past[1]->maps[0]->at({0, 1, 3, 2}));
  CHECK(std::ranges::any_of(picture.texts,
                            [](const TextItem& text) { return text.text.starts_with("step 1"); }));
  for (const PlaneItem& plane : picture.planes) {
    CHECK(plane.rect.x + plane.rect.width <= picture.width);
    CHECK(plane.rect.y + plane.rect.height <= picture.height);
  }
  CHECK(training_animation(run, "a title", Theme::dark, 2).frame_count() == 2);
}

TEST_CASE("steps are spread with the first and the last of them") {
  CHECK(spread_steps({0, 1, 2}, 5) == std::vector<Index>{0, 1, 2});
  CHECK(spread_steps({0, 10, 20, 30, 40}, 3) == std::vector<Index>{0, 20, 40});
}

TEST_CASE("the pages of a lesson stand where the loss changes, with the first and the last step") {
  WatchedRun run;
  for (int step = 0; step < 1000; ++step)
    run.losses.push_back({step < 600   ? 3.0f
                          : step < 700 ? 3.0f - 0.03f * static_cast<float>(step - 600)
                                       : 0.01f,
                          0.0f});
  std::vector<Index> steps;
  for (Index step = 0; step <= 1000; step += 10) steps.push_back(step);
  const std::vector<Index> telling = salient_steps(steps, run, 8);
  REQUIRE(telling.size() == 8);
  CHECK(telling.front() == 0);
  CHECK(telling.back() == 1000);
  CHECK(std::ranges::is_sorted(telling));
  CHECK(std::ranges::adjacent_find(telling) == telling.end());
  CHECK(std::ranges::count_if(telling, [](Index step) { return step >= 590 && step <= 710; }) >= 5);
  // A loss that never changes: evenly.
  for (TrainingLoss& loss : run.losses) loss.loss = 1.0f;
  CHECK(salient_steps(steps, run, 6) == std::vector<Index>{0, 200, 400, 600, 800, 1000});
  CHECK(salient_steps({0, 3, 5}, run, 8) == std::vector<Index>{0, 3, 5});
}
