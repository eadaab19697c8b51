// The training view, driven as a person would: choose, train, stand at a step, look inside.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "app/window/window_files.h"
#include "tests/app/window_bench.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const LiveTraining& training_of(const WindowBench& bench) {
  return bench.window->state().document.training;
}

void wait_until_idle(WindowBench& bench) {
  for (int i = 0; i < 4000 && training_of(bench).busy(); ++i) {
    bench.ui->run_frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  REQUIRE_FALSE(training_of(bench).busy());
  bench.ui->run_frames(2);
}

// A window with the view open on a task whose steps are quick.
WindowBench open_training(int width = 1280, int height = 720) {
  WindowBench bench = open_window(width, height);
  if (!bench.ui) return bench;
  bench.window->state().dialogs.training.task = "previous-token";
  bench.ui->key("N");
  wait_until_idle(bench);
  return bench;
}

void step_to(WindowBench& bench, Index step) {
  while (training_of(bench).step() < step) {
    bench.ui->key("Right");
    wait_until_idle(bench);
  }
}

}  // namespace

TEST_CASE("the training view opens with its key and from two menus, on a model that nothing has taught yet") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  CHECK(bench.ui->has("overlay/training"));
  CHECK(bench.ui->has("training/sentence"));
  CHECK_FALSE(bench.ui->has("training/error"));
  CHECK(bench.ui->has("training/map/0/0.0"));
  CHECK(bench.ui->has("training/map/0/0.7"));
  CHECK(bench.ui->has("training/habit/0.7"));
  CHECK(training_of(bench).step() == 0);
  bench.ui->key("N");
  CHECK_FALSE(bench.ui->has("overlay/training"));
  for (const char* menu : {"menu/View", "menu/Teach"}) {
    bench.ui->click(menu);
    bench.ui->click("menu/Train: watch it learn…");
    CHECK(bench.ui->has("overlay/training"));
    bench.ui->key("Escape");
    CHECK_FALSE(bench.ui->has("overlay/training"));
  }
}

TEST_CASE("Space trains and pauses; the arrows take a step and go back; Home and End lead to the ends") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  bench.ui->key("Space");
  CHECK(training_of(bench).playing());
  while (training_of(bench).reached() < 3) bench.ui->run_frames(1);
  bench.ui->key("Space");
  CHECK_FALSE(training_of(bench).playing());
  wait_until_idle(bench);
  const Index reached = training_of(bench).reached();
  CHECK(training_of(bench).step() == reached);
  bench.ui->key("Right");
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == reached + 1);
  bench.ui->key("Left");
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == reached);
  CHECK(training_of(bench).reached() == reached + 1);
  bench.ui->key("Home");
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == 0);
  bench.ui->key("End");
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == reached + 1);
}

TEST_CASE("closing the view pauses the training, which is there when it opens again") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  bench.ui->key("Space");
  while (training_of(bench).reached() < 2) bench.ui->run_frames(1);
  bench.ui->key("Escape");
  CHECK_FALSE(training_of(bench).playing());
  wait_until_idle(bench);
  const Index reached = training_of(bench).reached();
  bench.ui->key("N");
  bench.ui->run_frames(3);
  CHECK(training_of(bench).reached() == reached);
  CHECK_FALSE(training_of(bench).playing());
}

TEST_CASE("a click on the curve and a drag of the timeline lead to their step") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  step_to(bench, 20);
  const UiRect plot = bench.ui->rect("training/plot");
  const float x = plot.min.x + (plot.max.x - plot.min.x) * 8.0f / 200.0f;
  bench.ui->click(x, 0.5f * (plot.min.y + plot.max.y));
  bench.ui->run_frames(2);
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == 8);
  const UiRect steps = bench.ui->rect("training/steps");
  // Behind the last step there is nothing yet.
  bench.ui->click(0.5f * (steps.min.x + steps.max.x), 0.5f * (steps.min.y + steps.max.y));
  bench.ui->run_frames(2);
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == 20);
  bench.ui->click(steps.min.x + 1, 0.5f * (steps.min.y + steps.max.y));
  bench.ui->run_frames(2);
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == 0);
}

TEST_CASE("another task begins anew") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  step_to(bench, 2);
  bench.ui->click("training/task");
  bench.ui->click("training/task/majority");
  wait_until_idle(bench);
  CHECK(training_of(bench).source().name == "majority");
  CHECK(training_of(bench).reached() == 0);
}

TEST_CASE("a click on a head's map opens the model of that step, at that head") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  step_to(bench, 5);
  bench.ui->key("Left");
  wait_until_idle(bench);
  bench.ui->click("training/map/0/0.3");
  bench.ui->run_frames(3);
  CHECK_FALSE(bench.ui->has("overlay/training"));
  REQUIRE(bench.scenario().parameters.file);
  CHECK(bench.scenario().parameters.file->ends_with("checkpoint-4"));
  CHECK(bench.selection().head == 3);
  CHECK(bench.selection().step == Step::softmax);
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario().parameters.source == ParameterSource::hand_made);
  bench.ui->key("N");
  bench.ui->run_frames(2);
  CHECK(training_of(bench).step() == 4);
  CHECK(training_of(bench).reached() == 5);
}

TEST_CASE("the training view fits the usual windows, light and dark") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {900, 600}})
    for (const Theme theme : {Theme::dark, Theme::light}) {
      WindowBench bench = open_training(width, height);
      if (!bench.ui) return;
      bench.window->state().view.settings.theme = theme;
      step_to(bench, 3);
      const UiRect frame = bench.ui->rect("overlay/training");
      CHECK(frame.min.y >= 0.0f);
      CHECK(frame.max.y <= static_cast<float>(height));
      for (const std::string& name : bench.ui->names()) {
        if (!name.starts_with("training/") || name.starts_with("training/habit/")) continue;
        const UiRect rect = bench.ui->rect(name);
        CAPTURE(name);
        CHECK(rect.min.x >= frame.min.x);
        CHECK(rect.max.x <= frame.max.x + 1.0f);
        CHECK(rect.max.y <= frame.max.y + 1.0f);
      }
      bench.ui->save_png("training_" + std::to_string(width) + (theme == Theme::dark ? "_dark" : "_light"));
    }
}

TEST_CASE("the line below the steps shows the whole window at another step of the training") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  step_to(bench, 6);
  bench.ui->click("training/map/0/0.2");
  bench.ui->run_frames(3);
  REQUIRE(bench.ui->has("panel/training"));
  const auto shown = [&] { return *bench.scenario().parameters.file; };
  const auto go_to = [&](float share) {
    const UiRect line = bench.ui->rect("checkpoint/place");
    bench.ui->click(line.min.x + 5.0f + share * (line.max.x - line.min.x - 10.0f),
                    0.5f * (line.min.y + line.max.y));
    for (int i = 0;
         i < 2000 && (training_of(bench).busy() || bench.window->state().view.place_in_training.target); ++i) {
      bench.ui->run_frames(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    bench.ui->run_frames(3);
  };
  CHECK(shown().ends_with("checkpoint-6"));
  const double at_six = bench.output(0);
  go_to(0.5f);
  CHECK(shown().ends_with("checkpoint-3"));
  CHECK(bench.output(0) != at_six);
  CHECK(bench.selection().head == 2);
  CHECK(bench.selection().step == Step::softmax);
  go_to(1.0f);
  CHECK(shown().ends_with("checkpoint-6"));
  CHECK(bench.output(0) == at_six);
  go_to(0.0f);
  CHECK(shown().ends_with("checkpoint-0"));
  CHECK(bench.session().error().empty());
  bench.ui->click("checkpoint/back");
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("overlay/training"));
  CHECK(training_of(bench).reached() == 6);
  // Another training's steps are not on that line.
  bench.ui->click("training/task");
  bench.ui->click("training/task/majority");
  wait_until_idle(bench);
  bench.ui->key("Escape");
  bench.ui->run_frames(2);
  CHECK_FALSE(bench.ui->has("checkpoint/back"));
}

TEST_CASE("one thing is changed and trained beside, and what it did is said when both stand at one step") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  step_to(bench, 4);
  bench.ui->click("training/change/equal-heads");
  CHECK(training_of(bench).playing());
  REQUIRE(training_of(bench).runs().size() == 2);
  while (training_of(bench).runs()[1].reached() < 6) bench.ui->run_frames(1);
  CHECK(bench.ui->has("training/map/1/0.7"));
  bench.ui->key("Space");
  for (int i = 0; i < 3000 && !training_of(bench).answer(); ++i) {
    bench.ui->run_frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (training_of(bench).runs()[0].step() == training_of(bench).runs()[1].step())
    CHECK(bench.ui->has("training/answer"));
  wait_until_idle(bench);
  bench.ui->click("training/alone");
  bench.ui->run_frames(2);
  CHECK(training_of(bench).runs().size() == 1);
}

TEST_CASE("one number is explained: the formula of its update, and the token that moves it most") {
  WindowBench bench = open_training(1600, 1000);
  if (!bench.ui) return;
  step_to(bench, 2);
  const UiRect choice = bench.ui->rect("training/below");
  bench.ui->click(choice.max.x - 10.0f, 0.5f * (choice.min.y + choice.max.y));
  const auto explained = [&] {
    ExplainedCells& cells = bench.window->state().document.explained_cells;
    for (int i = 0; i < 3000; ++i) {
      bench.ui->run_frames(1);
      if (!cells.running() && bench.ui->has("training/formula")) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    bench.ui->run_frames(2);
    REQUIRE(cells.known());
    REQUIRE(cells.known()->answer);
    return cells.known()->answer;
  };
  const auto most = explained();
  // The number that changes most, unless another one is chosen.
  for (Index i = 0; i < most->pictures.change->size(); ++i)
    CHECK(std::abs(most->pictures.change->flat(i)) <= std::abs(most->update.result - most->update.value));
  double sum = 0.0;
  for (Index i = 0; i < most->sources->size(); ++i) sum += most->sources->flat(i);
  CHECK(sum == doctest::Approx(most->update.gradient).epsilon(1e-4));
  const UiRect picture = bench.ui->rect("training/picture/0");
  bench.ui->click(picture.min.x + 1.0f, picture.min.y + 1.0f);
  const auto first = explained();
  CHECK(first->place == CellPlace{0, 0});
  // The next step does just that.
  const double result = first->update.result;
  bench.ui->key("Right");
  wait_until_idle(bench);
  CHECK(explained()->update.value == result);
}

TEST_CASE("a text of one's own is a task, and one that cannot be learned is refused in the dialog") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat sat on the mat and the dog ran to the hall. ";
  folder.with_file("story.txt", text);
  folder.with_file("one.txt", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
  const auto choose = [&](const std::string& name) {
    bench.ui->key("Ctrl+A");
    bench.ui->type(folder.file(name));
    bench.ui->key("Enter");
    bench.ui->run_frames(2);
  };
  bench.ui->click("training/task");
  bench.ui->click("training/task/your own text …");
  bench.ui->run_frames(2);
  REQUIRE(bench.ui->has("overlay/file"));
  choose("one.txt");
  CHECK(bench.ui->has("overlay/file"));
  CHECK(bench.window->state().dialogs.files.error.find("one.txt") != std::string::npos);
  CHECK(training_of(bench).source().name == "previous-token");
  choose("story.txt");
  wait_until_idle(bench);
  CHECK_FALSE(bench.ui->has("overlay/file"));
  CHECK(bench.ui->has("overlay/training"));
  CHECK(training_of(bench).source().name == "file");
  CHECK(training_of(bench).task().vocabulary > 10);
}

TEST_CASE("saving asks for a place, comes back to the training and says where it was saved") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  const TemporaryFolder folder;
  step_to(bench, 3);
  bench.ui->click("training/save");
  bench.ui->click("training/save/a PyTorch program (.py)");
  bench.ui->run_frames(2);
  REQUIRE(bench.ui->has("overlay/file"));
  bench.ui->key("Ctrl+A");
  bench.ui->type(folder.file("same.py"));
  bench.ui->key("Enter");
  bench.ui->run_frames(2);
  wait_until_idle(bench);
  CHECK(bench.ui->has("overlay/training"));
  bench.ui->move_to(2, 2);
  bench.ui->run_frames(1);
  CHECK(bench.window->state().dialogs.training.told.find("same.py") != std::string::npos);
  CHECK(content_of(folder.file("same.py")).find("import torch") != std::string::npos);
}

TEST_CASE("Escape closes an open list first, and then the training view") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  bench.ui->click("training/changes");
  bench.ui->run_frames(2);
  bench.ui->key("Escape");
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("overlay/training"));
  bench.ui->key("Escape");
  bench.ui->run_frames(2);
  CHECK_FALSE(bench.ui->has("overlay/training"));
}

TEST_CASE(
    "the line below the steps names the step of the model that is shown, wherever the training stands") {
  WindowBench bench = open_training();
  if (!bench.ui) return;
  step_to(bench, 5);
  bench.ui->click("training/map/0/0.1");
  bench.ui->run_frames(3);
  REQUIRE(bench.ui->has("says/step 5 of 5"));
  bench.ui->key("N");
  bench.ui->key("Home");
  wait_until_idle(bench);
  bench.ui->key("Escape");
  bench.ui->run_frames(3);
  CHECK(training_of(bench).step() == 0);
  CHECK(bench.ui->has("says/step 5 of 5"));
}

namespace {

// What the inspector says of a pinned cell, once it is computed.
std::shared_ptr<const ExplainedCell> inspected(WindowBench& bench, const CellRef& cell) {
  bench.window->state().view.selection.step = Step::project;
  bench.window->state().view.selection.pinned = cell;
  ExplainedCells& cells = bench.window->state().document.explained_cells;
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

TEST_CASE(
    "the inspector explains how the training's next step changes a number of the model that is looked into") {
  WindowBench bench = open_training(1600, 1000);
  if (!bench.ui) return;
  step_to(bench, 5);
  bench.ui->key("Left");
  wait_until_idle(bench);
  bench.ui->click("training/map/0/0.3");
  bench.ui->run_frames(3);
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
  bench.window->state().document.training.go_to(0);
  wait_until_idle(bench);
  const auto again = inspected(bench, cells[0]);
  REQUIRE(again);
  CHECK(again->update.result == next[0]);
  bench.window->state().view.place_in_training.target = 5;
  for (int i = 0; i < 2000 && bench.window->state().view.place_in_training.target; ++i) {
    bench.ui->run_frames(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bench.ui->run_frames(3);
  for (std::size_t i = 0; i < cells.size(); ++i) CHECK(shown_at(bench, cells[i]) == next[i]);
}

TEST_CASE(
    "of an edited model the inspector says that it is not the training's; another text changes nothing") {
  WindowBench bench = open_training(1600, 1000);
  if (!bench.ui) return;
  step_to(bench, 2);
  bench.ui->click("training/map/0/0.3");
  bench.ui->run_frames(3);
  const CellRef cell{{TensorId::in_proj_weight}, {70, 11}};
  const auto before = inspected(bench, cell);
  REQUIRE(before);
  Session& session = bench.window->state().document.session;
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
    bench.ui->key("Ctrl+Z");
    bench.ui->run_frames(2);
    CHECK(inspected(bench, cell));
    CHECK_FALSE(bench.ui->has("inspector/edited"));
  }
  // Another training forgets it.
  bench.window->state().document.training.begin({.name = "majority"}, usual_settings(named_task("majority")));
  wait_until_idle(bench);
  CHECK_FALSE(inspected(bench, cell));
  CHECK_FALSE(bench.ui->has("inspector/edited"));
}

TEST_CASE(
    "the training of a folder goes on: by its key before any other has begun, else by the line of its "
    "checkpoints") {
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
    open_file(bench.window->state(), shown);
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
    CHECK(bench.window->state().dialogs.training.saved.find("Goes on from step 6 of") == 0);
    bench.ui->key("End");
    wait_until_idle(bench);
    step_to(bench, 7);
    CHECK(std::ranges::equal(bench.window->state().document.training.stopped_run().values(), run.values()));
    // A look at the model, and back: it goes on where it stands.
    bench.ui->key("Escape");
    bench.ui->run_frames(2);
    CHECK_FALSE(bench.ui->has("checkpoint/on"));
    const CellRef cell{{TensorId::out_proj_weight}, {5, 40}};
    const auto explained = inspected(bench, cell);
    REQUIRE(explained);
    CHECK(explained->update.step == 3);
    bench.ui->click("checkpoint/back");
    bench.ui->run_frames(2);
    CHECK(bench.ui->has("overlay/training"));
    CHECK(training_of(bench).reached() == 7);
  };
  WindowBench first = open_window(1600, 1000);
  if (!first.ui) return;
  open_checkpoint(first);
  first.ui->key("N");
  goes_on(first);
  WindowBench second = open_training(1600, 1000);
  step_to(second, 1);
  second.ui->key("Escape");
  open_checkpoint(second);
  CHECK_FALSE(inspected(second, {{TensorId::out_proj_weight}, {5, 40}}));
  second.ui->key("N");
  second.ui->run_frames(2);
  CHECK(training_of(second).saved_folder().empty());
  second.ui->key("Escape");
  second.ui->click("checkpoint/on");
  goes_on(second);
}

TEST_CASE("a training that cannot go on says why, and another task can be chosen") {
  const TemporaryFolder folder;
  TaskSource source{.name = "previous-token"};
  write_checkpoint(folder.file("run"), source,
                   TrainingRun<float>(task_of(source), usual_settings(task_of(source))));
  std::filesystem::remove(folder.file("run") + "/checkpoint-0/optimizer.safetensors");
  WindowBench bench = open_window(1280, 720);
  if (!bench.ui) return;
  const Scenario before = bench.scenario();
  open_file(bench.window->state(), folder.file("run"));
  bench.ui->run_frames(2);
  bench.ui->key("N");
  bench.ui->run_frames(2);
  CHECK_FALSE(training_of(bench).begun());
  CHECK(bench.ui->has("training/error"));
  CHECK(bench.window->state().dialogs.training.error.find("optimizer.safetensors") != std::string::npos);
  bench.ui->key("Escape");
  bench.window->state().document.session.open(before, "open");
  bench.ui->run_frames(2);
  bench.ui->key("N");
  wait_until_idle(bench);
  CHECK_FALSE(bench.ui->has("training/error"));
  CHECK(training_of(bench).source().name == "induction");
}

TEST_CASE("the task that the view begins with can be chosen where a training cannot go on") {
  WindowBench bench = open_window(1280, 720);
  if (!bench.ui) return;
  TrainingViewState& view = bench.window->state().dialogs.training;
  view.goes_on = SavedTraining{"/no such folder", 0};
  view.open = true;
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("training/error"));
  bench.ui->click("training/task");
  bench.ui->click("training/task/induction");
  wait_until_idle(bench);
  CHECK_FALSE(bench.ui->has("training/error"));
  CHECK(training_of(bench).source().name == "induction");
}
