// The window on the model of a step of a training, and on a folder whose training goes on.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "app/lesson/playlist_walk.h"
#include "app/window/page_turns.h"
#include "app/window/window_files.h"
#include "core/lessons/lessons.h"
#include "tests/app/window/training_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// What the inspector says of a pinned cell, once it is computed.
std::shared_ptr<const ExplainedCell> inspected(WindowBench& bench, const CellRef& cell) {
  bench.selection().step = Step::project;
  bench.selection().pinned = cell;
  ExplainedCells& cells = bench.state().document.explained_cells;
  for (int i = 0; i < 3000; ++i) {
    bench.ui->run_frames(1);
    if (!cells.running() && (bench.ui->has("inspector/update") || i > 50)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return bench.ui->has("inspector/update") ? cells.known()->answer : nullptr;
}

double shown_at(const WindowBench& bench, const CellRef& cell) {
  return bench.trace().tensor(cell.tensor)->at(cell.index);
}

}  // namespace

TEST_CASE("the inspector explains how the training's next step changes a number of the model looked into") {
  WINDOW_OR_SKIP(bench, open_training(1600, 1000));
  step_to(bench, 5);
  bench.ui->key("Left");
  wait_until_idle(bench);
  bench.ui->click("training/map/0/0.3").run_frames(3);
  const std::vector<CellRef> cells{{{TensorId::in_proj_weight}, {70, 11}},
                                   {{TensorId::in_proj_bias}, {130}},
                                   {{TensorId::out_proj_weight}, {5, 40}},
                                   {{TensorId::out_proj_bias}, {63}}};
  std::vector<double> next;
  for (const CellRef& cell : cells) {
    const auto explained = inspected(bench, cell);
    REQUIRE(explained);
    CHECK(explained->update.step == 4);
    CHECK(explained->update.value == shown_at(bench, cell));
    CHECK(explained->update.gradient != 0.0);
    CHECK(bench.ui->has("says/How step 5 changes " + explained->update.name + ":"));
    next.push_back(explained->update.result);
  }
  CHECK_FALSE(inspected(bench, {{TensorId::scores}, {0, 3, 2, 1}}));
  // Where the training stands does not matter; and the model of the next step has just these numbers.
  bench.state().document.training.go_to(0);
  wait_until_idle(bench);
  const auto again = inspected(bench, cells[0]);
  REQUIRE(again);
  CHECK(again->update.result == next[0]);
  bench.state().view.place_in_training.target = 5;
  bench.ui->run_until([&] { return !bench.state().view.place_in_training.target; }).run_frames(3);
  for (std::size_t i = 0; i < cells.size(); ++i) CHECK(shown_at(bench, cells[i]) == next[i]);
}

TEST_CASE("of an edited model the inspector says it is not the training's; another text changes nothing") {
  WINDOW_OR_SKIP(bench, open_training(1600, 1000));
  step_to(bench, 2);
  bench.ui->click("training/map/0/0.3").run_frames(3);
  const CellRef cell{{TensorId::in_proj_weight}, {70, 11}};
  const auto before = inspected(bench, cell);
  REQUIRE(before);
  Session& session = bench.session();
  const Scenario as_trained = session.scenario();
  Scenario other_text = as_trained;
  other_text.inputs.text = other_text.inputs.text.substr(0, other_text.inputs.text.find(' ', 20));
  session.edit(other_text, "type");
  bench.ui->run_frames(2);
  const auto with_text = inspected(bench, cell);
  REQUIRE(with_text);
  CHECK(with_text->formula == before->formula);
  Scenario other_cell = as_trained, other_scale = as_trained, muted = as_trained;
  other_cell.edits.push_back({"in_proj_weight", {3, 4}, 1.0});
  other_scale.attention.scale = 2.0;
  muted.head_gain = std::vector<double>(static_cast<std::size_t>(as_trained.attention.num_heads), 0.0);
  for (const Scenario& edited : {other_cell, other_scale, muted}) {
    session.edit(edited, "edit");
    bench.ui->run_frames(2);
    REQUIRE(session.error().empty());
    CHECK_FALSE(inspected(bench, cell));
    CHECK(bench.ui->has("inspector/edited"));
    bench.ui->key("Ctrl+Z").run_frames(2);
    CHECK(inspected(bench, cell));
    CHECK_FALSE(bench.ui->has("inspector/edited"));
  }
  // Another training forgets it.
  bench.state().document.training.begin({.name = "majority"}, usual_settings(named_task("majority")));
  wait_until_idle(bench);
  CHECK_FALSE(inspected(bench, cell));
  CHECK_FALSE(bench.ui->has("inspector/edited"));
}

TEST_CASE("a folder's training goes on: by its key before any other began, else by its checkpoints' line") {
  const TemporaryFolder folder;
  TaskSource source{.name = "previous-token"};
  TrainingRun<float> run(task_of(source), usual_settings(task_of(source)));
  for (const Index step : {0, 3, 6}) {
    while (run.step() < step) run.take_step();
    write_checkpoint(folder.file("run"), source, run);
  }
  run.take_step();
  const std::string shown = checkpoint_path(folder.file("run"), 3);
  const auto open_checkpoint = [&](WindowBench& bench) {
    open_file(bench.state(), shown);
    bench.ui->run_frames(3);
    REQUIRE(bench.ui->has("panel/training"));
  };
  const auto goes_on = [&](WindowBench& bench) {
    wait_until_idle(bench);
    CHECK(bench.ui->has("overlay/training"));
    CHECK_FALSE(bench.ui->has("training/error"));
    CHECK(training_of(bench).saved_folder() == folder.file("run"));
    CHECK(training_of(bench).step() == 3);
    CHECK(training_of(bench).reached() == 6);
    CHECK(bench.state().dialogs.training.saved.find("Goes on from step 6 of") == 0);
    bench.ui->key("End");
    wait_until_idle(bench);
    step_to(bench, 7);
    CHECK(std::ranges::equal(bench.state().document.training.stopped_run().values(), run.values()));
    // A look at the model, and back: it goes on where it stands.
    bench.ui->key("Escape").run_frames(2);
    CHECK_FALSE(bench.ui->has("checkpoint/on"));
    const CellRef cell{{TensorId::out_proj_weight}, {5, 40}};
    const auto explained = inspected(bench, cell);
    REQUIRE(explained);
    CHECK(explained->update.step == 3);
    bench.ui->click("checkpoint/back").run_frames(2);
    CHECK(bench.ui->has("overlay/training"));
    CHECK(training_of(bench).reached() == 7);
  };
  WINDOW_OR_SKIP(first, open_unpainted(1600, 1000));
  open_checkpoint(first);
  first.ui->key("N");
  goes_on(first);
  WindowBench second = open_training(1600, 1000);
  step_to(second, 1);
  second.ui->key("Escape");
  open_checkpoint(second);
  CHECK_FALSE(inspected(second, {{TensorId::out_proj_weight}, {5, 40}}));
  second.ui->key("N").run_frames(2);
  CHECK(training_of(second).saved_folder().empty());
  second.ui->key("Escape").click("checkpoint/on");
  goes_on(second);
}

TEST_CASE("a training that cannot go on says why, and another task can be chosen") {
  const TemporaryFolder folder;
  TaskSource source{.name = "previous-token"};
  TrainingRun<float> untrained(task_of(source), usual_settings(task_of(source)));
  write_checkpoint(folder.file("run"), source, untrained);
  std::filesystem::remove(folder.file("run") + "/checkpoint-0/optimizer.safetensors");
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  const Scenario before = bench.scenario();
  open_file(bench.state(), folder.file("run"));
  bench.ui->run_frames(2).key("N").run_frames(2);
  CHECK_FALSE(training_of(bench).begun());
  CHECK(bench.ui->has("training/error"));
  CHECK_CONTAINS(bench.state().dialogs.training.error, "optimizer.safetensors");
  bench.ui->key("Escape");
  bench.session().open(before, "open");
  bench.ui->run_frames(2).key("N");
  wait_until_idle(bench);
  CHECK_FALSE(bench.ui->has("training/error"));
  CHECK(training_of(bench).source().name == first_task);
}

TEST_CASE("the task that the view begins with can be chosen where a training cannot go on") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  TrainingViewState& view = bench.state().dialogs.training;
  view.to_resume = SavedTraining{"/no such folder", 0};
  view.open = true;
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("training/error"));
  bench.ui->click("training/task").click("training/task/induction");
  wait_until_idle(bench);
  CHECK_FALSE(bench.ui->has("training/error"));
  CHECK(training_of(bench).source().name == "induction");
}

TEST_CASE("a model that was looked into is still known after a lesson was visited") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 3);
  start_walk(bench.state(), lesson_playlist("first_walk"));
  bench.ui->run_until_still();
  bench.state().dialogs.training.open = true;
  bench.ui->run_frames(2);
  wait_until_idle(bench);
  bench.ui->click("training/map/0/0.1").run_until_still();
  CHECK(bench.ui->has("checkpoint/place"));
  for (const char* key : {"F5", "Escape", "Escape"}) bench.ui->key(key).run_until_still();
  CHECK(bench.ui->has("checkpoint/place"));
}
