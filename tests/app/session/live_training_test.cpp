// A watched training: the same numbers as one that nobody watches, whenever it is paused, taken back or trained beside another.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "app/session/live_training.h"
#include "app/session/trained_habits.h"
#include "app/session/training_animation.h"
#include "app/session/training_saving.h"
#include "core/playlist/playlist.h"
#include "core/tensor/error.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/train/small_training.h"

using namespace headwise;
using headwise::test::two_head_settings;

namespace {

TrainingSettings small_settings(const char* task = "previous-token") {
  return two_head_settings(named_task(task), 8, 0.1);
}

void begin_small(LiveTraining& training, const TrainingSettings& settings = small_settings()) {
  training.begin({.name = "previous-token"}, settings);
}

void wait_for(LiveTraining& training) {
  while (training.busy()) {
    training.take_in();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  training.take_in();
}

void train_to(LiveTraining& training, Index step) {
  training.play(0.0, step);
  wait_for(training);
}

std::vector<float> losses_of(const WatchedRun& run) {
  std::vector<float> losses;
  for (const TrainingLoss& loss : run.losses) losses.push_back(loss.loss);
  return losses;
}

// As many steps of a run that nobody watches.
std::vector<float> losses_alone(const TrainingSettings& settings, Index steps) {
  TrainingRun<float> run(named_task("previous-token"), settings);
  std::vector<float> losses;
  while (run.step() < steps) losses.push_back(static_cast<float>(run.take_step()->batch.loss));
  return losses;
}

bool same_maps(const TrainingPoint& a, TrainingRun<float>& run) {
  const std::vector<Tensor> maps = run.held_out_maps(0);
  for (std::size_t layer = 0; layer < maps.size(); ++layer)
    if (!std::ranges::equal(a.maps[layer]->values<float>(), maps[layer].values<float>())) return false;
  return a.maps.size() == maps.size();
}

}  // namespace

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
  training.begin_beside(TrainingChange::one_wide_head);
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
  training.end_beside();
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
  training.begin_beside(TrainingChange::high_learning_rate);
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
  training.begin_beside(TrainingChange::no_scale);
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
  training.begin_beside(TrainingChange::equal_heads);
  wait_for(training);
  CHECK_FALSE(training.answer());
  train_to(training, 6);
  for (int i = 0; i < 2000 && !training.answer(); ++i) {
    training.take_in();
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
    training.take_in();
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
  // A folder with a training is not written over.
  training.save(TrainingForm::folder, folder.file("run"), Theme::dark);
  wait_for(training);
  CHECK(training.error().find("there are checkpoints of a training in this folder already") !=
        std::string::npos);
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
  CHECK(picture.find("acTL") != std::string::npos);
  training.save(TrainingForm::program, folder.file("p.py"), Theme::light);
  wait_for(training);
  CHECK(content_of(folder.file("p.py")).find("import torch") != std::string::npos);
  training.save(TrainingForm::pages, folder.file("lesson.json"), Theme::light);
  wait_for(training);
  CHECK(training.error() == "");
  const Playlist pages = read_playlist_file(folder.file("lesson.json"));
  REQUIRE(pages.pages.size() == checkpoint_steps(folder.file("lesson")).size());
  CHECK(pages.pages.front().title == "Step 0");
  CHECK(pages.pages.back().title == "Step 6");
  CHECK(pages.pages.back().view == StageView::all_heads);
  CHECK(pages.pages.back().scenario->parameters.file->ends_with("checkpoint-6"));
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
  try {
    training.begin_saved(folder, 0);
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::input);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a training in a folder goes on as if it had never stopped, and its past is there") {
  const TemporaryFolder folder;
  const std::string saved = saved_small(folder);
  LiveTraining training;
  training.begin_saved(saved, 4);
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

TEST_CASE(
    "a training goes on from its newest checkpoint alone, and says from where on its losses are known") {
  const TemporaryFolder folder;
  const std::string saved = saved_small(folder);
  for (const Index step : {0, 4, 9}) std::filesystem::remove_all(checkpoint_path(saved, step));
  std::filesystem::remove(saved + "/curve.csv");
  LiveTraining training;
  training.begin_saved(saved, 12);
  wait_for(training);
  CHECK(training.step() == 12);
  CHECK(training.runs().front().losses_from == 12);
  CHECK(training.runs().front().loss_of(11) == nullptr);
  train_to(training, 14);
  REQUIRE(training.runs().front().loss_of(13));
  CHECK(training.runs().front().loss_of(13)->loss == losses_alone(small_settings(), 14)[13]);
  // What is not known of one training is not compared with another.
  training.begin_beside(TrainingChange::no_scale);
  train_to(training, 14);
  CHECK(training.runs()[1].step() == 14);
  CHECK_FALSE(training.answer());
  folder.with_file("run/curve.csv", "step,loss\n9,2.5,0.25,\n11,1.5,0.5,\n10,2,0.5,\n4,3,0.1,\n99,1,1,\n");
  training.begin_saved(saved, 12);
  wait_for(training);
  CHECK(training.runs().front().losses_from == 9);
  CHECK(training.runs().front().loss_of(10)->loss == 2.0f);
}

TEST_CASE("what cannot go on is refused in one sentence, and the training before stays") {
  const TemporaryFolder folder;
  LiveTraining training;
  begin_small(training);
  train_to(training, 2);
  CHECK(refusal_to_go_on(training, folder.file("nothing")).find("no checkpoint to go on from") !=
        std::string::npos);
  TaskSource source{.name = "previous-token"};
  TrainingRun<double> wide(task_of(source), small_settings());
  write_checkpoint(folder.file("wide"), source, wide);
  CHECK(refusal_to_go_on(training, folder.file("wide")).find("headwise train --resume") != std::string::npos);
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat sat on the mat. ";
  TaskSource file{.name = "file", .file = folder.with_file("story.txt", text)};
  TrainingRun<float> reads(task_of(file), two_head_settings(task_of(file), 8, 0.0));
  write_checkpoint(folder.file("reads"), file, reads);
  CHECK(refusal_to_go_on(training, folder.file("reads")).empty());
  begin_small(training);
  train_to(training, 2);
  folder.with_file("story.txt", text + "And so on.");
  CHECK(refusal_to_go_on(training, folder.file("reads")).find("story.txt") != std::string::npos);
  const std::string saved = saved_small(folder);
  folder.with_file("run/checkpoint-12/optimizer.safetensors", "");
  CHECK(refusal_to_go_on(training, saved).find("optimizer.safetensors") != std::string::npos);
  CHECK(training.step() == 2);
  CHECK(training.source().name == "previous-token");
  CHECK(training.saved_folder().empty());
}
