// What a watched training is saved as.
#include <algorithm>
#include <filesystem>

#include "app/session/training_saving.h"
#include "core/playlist/playlist.h"
#include "tests/app/session/small_live_training.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
using namespace headwise::test;

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
