// The training view, driven as a person would: choose, train, stand at a step, look inside.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/session/training_saving.h"
#include "app/training/training_heads.h"
#include "app/window/window_files.h"
#include "tests/app/window/training_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

TEST_CASE("the training view opens with its key and from two menus, on a model that nothing has taught yet") {
  WINDOW_OR_SKIP(bench, open_training());
  bench.ui->check_shown({"overlay/training", "training/sentence"});
  CHECK_FALSE(bench.ui->has("training/error"));
  bench.ui->check_shown({"training/map/0/0.0", "training/map/0/0.7", "training/habit/0.7"});
  CHECK(training_of(bench).step() == 0);
  bench.ui->key("N");
  CHECK_FALSE(bench.ui->has("overlay/training"));
  for (const char* menu : {"menu/View", "menu/Teach"}) {
    bench.ui->click(menu).click("menu/Train: watch it learn…");
    CHECK(bench.ui->has("overlay/training"));
    bench.ui->key("Escape");
    CHECK_FALSE(bench.ui->has("overlay/training"));
  }
}

TEST_CASE("Space trains and pauses; the arrows take a step and go back; Home and End lead to the ends") {
  WINDOW_OR_SKIP(bench, open_training());
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
  WINDOW_OR_SKIP(bench, open_training());
  bench.ui->key("Space");
  while (training_of(bench).reached() < 2) bench.ui->run_frames(1);
  bench.ui->key("Escape");
  CHECK_FALSE(training_of(bench).playing());
  wait_until_idle(bench);
  const Index reached = training_of(bench).reached();
  bench.ui->key("N").run_frames(3);
  CHECK(training_of(bench).reached() == reached);
  CHECK_FALSE(training_of(bench).playing());
}

TEST_CASE("a click on the curve and a drag of the timeline lead to their step") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 20);
  bench.ui->click(bench.ui->at("training/plot", 8.0f / 200.0f)).run_frames(2);
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == 8);
  // Behind the last step there is nothing yet.
  bench.ui->click("training/steps").run_frames(2);
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == 20);
  bench.ui->click(bench.ui->at("training/steps", 0.0f)).run_frames(2);
  wait_until_idle(bench);
  CHECK(training_of(bench).step() == 0);
}

TEST_CASE("a click on a head's map opens the model of that step, at that head") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 5);
  bench.ui->key("Left");
  wait_until_idle(bench);
  bench.ui->click("training/map/0/0.3").run_frames(3);
  CHECK_FALSE(bench.ui->has("overlay/training"));
  REQUIRE(bench.scenario().parameters.file);
  CHECK(bench.scenario().parameters.file->ends_with("checkpoint-4"));
  CHECK(bench.selection().head == 3);
  CHECK(bench.selection().step == Step::softmax);
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario().parameters.source == ParameterSource::hand_made);
  bench.ui->key("N").run_frames(2);
  CHECK(training_of(bench).step() == 4);
  CHECK(training_of(bench).reached() == 5);
}

TEST_CASE("the training view fits the usual windows, light and dark") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {900, 600}})
    for (const Theme theme : {Theme::dark, Theme::light}) {
      WINDOW_OR_SKIP(bench, open_training(width, height));
      bench.state().view.settings.theme = theme;
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
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 6);
  bench.ui->click("training/map/0/0.2").run_frames(3);
  REQUIRE(bench.ui->has("panel/training"));
  const auto shown = [&] { return *bench.scenario().parameters.file; };
  const auto go_to = [&](float share) {
    const auto stands = [&] {
      return !training_of(bench).busy() && !bench.state().view.place_in_training.target;
    };
    bench.ui->click(bench.ui->at("checkpoint/place", 0.01f + 0.98f * share)).run_until(stands).run_frames(3);
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
  bench.ui->click("checkpoint/back").run_frames(2);
  CHECK(bench.ui->has("overlay/training"));
  CHECK(training_of(bench).reached() == 6);
  // Another training's steps are not on that line.
  bench.ui->click("training/task").click("training/task/majority");
  wait_until_idle(bench);
  bench.ui->key("Escape").run_frames(2);
  CHECK_FALSE(bench.ui->has("checkpoint/back"));
}

TEST_CASE("one thing is changed and trained beside, and what it did is said when both stand at one step") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 4);
  bench.ui->click("training/change/equal-heads");
  CHECK(training_of(bench).playing());
  REQUIRE(training_of(bench).runs().size() == 2);
  while (training_of(bench).runs()[1].reached() < 6) bench.ui->run_frames(1);
  CHECK(bench.ui->has("training/map/1/0.7"));
  bench.ui->key("Space");
  bench.ui->run_until([&] { return training_of(bench).answer() != nullptr; });
  wait_until_idle(bench);
  CHECK(bench.ui->rect("training/answer_words").max.y <= bench.ui->rect("training/answer").max.y);
  bench.ui->click("training/alone").run_frames(2);
  CHECK(training_of(bench).runs().size() == 1);
}

TEST_CASE("one number is explained: the formula of its update, and the token that moves it most") {
  WINDOW_OR_SKIP(bench, open_training(1600, 1000));
  step_to(bench, 2);
  bench.ui->click(bench.ui->right_end("training/below"));
  const auto explained = [&] {
    ExplainedCells& cells = bench.state().document.explained_cells;
    bench.ui->run_frames(1).run_until([&] { return !cells.running() && bench.ui->has("training/formula"); });
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
  WINDOW_OR_SKIP(bench, open_training());
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat sat on the mat and the dog ran to the hall. ";
  folder.with_file("story.txt", text);
  folder.with_file("one.txt", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
  const auto choose = [&](const std::string& name) {
    bench.ui->key("Ctrl+A");
    bench.ui->type(folder.file(name)).key("Enter").run_frames(2);
  };
  bench.ui->click("training/task").click("training/task/your own text …").run_frames(2);
  REQUIRE(bench.ui->has("overlay/file"));
  choose("one.txt");
  CHECK(bench.ui->has("overlay/file"));
  CHECK_CONTAINS(bench.state().dialogs.files.error, "one.txt");
  CHECK(training_of(bench).source().name == "previous-token");
  choose("story.txt");
  wait_until_idle(bench);
  CHECK_FALSE(bench.ui->has("overlay/file"));
  CHECK(bench.ui->has("overlay/training"));
  CHECK(training_of(bench).source().name == "file");
  CHECK(training_of(bench).task().vocabulary > 10);
}

TEST_CASE("saving asks for a place, comes back to the training and says where it was saved") {
  WINDOW_OR_SKIP(bench, open_training());
  const TemporaryFolder folder;
  step_to(bench, 3);
  bench.ui->click("training/save").click("training/save/a PyTorch program (.py)").run_frames(2);
  REQUIRE(bench.ui->has("overlay/file"));
  bench.ui->key("Ctrl+A").type(folder.file("same.py")).key("Enter").run_frames(2);
  wait_until_idle(bench);
  CHECK(bench.ui->has("overlay/training"));
  bench.ui->move_to(2, 2).run_frames(1);
  CHECK_CONTAINS(bench.state().dialogs.training.readout, "same.py");
  CHECK_CONTAINS(content_of(folder.file("same.py")), "import torch");
}

TEST_CASE("the Enter that chooses what to save is not the one that accepts a name") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 1);
  bench.ui->click("training/save").key("Down").key("Enter").run_frames(3);
  CHECK(bench.ui->has("overlay/file"));
  CHECK_FALSE(training_of(bench).saving());
  bench.ui->key("Escape").run_frames(2);
  CHECK(bench.ui->has("overlay/training"));
}

TEST_CASE("Escape closes an open list first, and then the training view") {
  WINDOW_OR_SKIP(bench, open_training());
  bench.ui->click("training/changes").run_frames(2).key("Escape").run_frames(2);
  CHECK(bench.ui->has("overlay/training"));
  bench.ui->key("Escape").run_frames(2);
  CHECK_FALSE(bench.ui->has("overlay/training"));
}

TEST_CASE("the line below the steps names the shown model's step, wherever the training stands") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 5);
  bench.ui->click("training/map/0/0.1").run_frames(3);
  REQUIRE(bench.ui->has("says/step 5 of 5"));
  bench.ui->key("N").key("Home");
  wait_until_idle(bench);
  bench.ui->key("Escape").run_frames(3);
  CHECK(training_of(bench).step() == 0);
  CHECK(bench.ui->has("says/step 5 of 5"));
}

TEST_CASE("before the first step the curve says what it waits for; a head's first name marks the timeline") {
  WINDOW_OR_SKIP(bench, open_training());
  CHECK(bench.ui->has("training/waiting"));
  step_to(bench, 1);
  CHECK_FALSE(bench.ui->has("training/waiting"));
  bench.state().document.training.play(0.0, 100);
  wait_until_idle(bench);
  int marks = 0;
  const WatchedRun& run = training_of(bench).runs().front();
  for (Index head = 0; head < run.settings.model.heads; ++head) {
    const auto named = [&](const TrainingPointPtr& point) {
      return habit_at(run, *point, 0, head).has_value();
    };
    const bool marked = bench.ui->has("training/named/" + trained_head_name(0, head));
    CHECK(marked == std::ranges::any_of(run.past, named));
    marks += marked;
  }
  CHECK(marks > 0);
}

TEST_CASE("a hall sees the lines of all eight heads of each layer") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}})
    for (const char* task : {"modular-addition", "induction"}) {
      CAPTURE(width);
      CAPTURE(task);
      WINDOW_OR_SKIP(bench, open_unpainted(width, height));
      bench.state().dialogs.training.task = task;
      bench.ui->key("N").key("F11");
      wait_until_idle(bench);
      bench.ui->run_until_still();
      const Index layers = training_of(bench).runs().front().settings.model.layers;
      for (Index layer = 0; layer < layers; ++layer)
        for (Index head = 0; head < 8; ++head) {
          const std::string name = "training/habit/" + trained_head_name(layer, head);
          CAPTURE(name);
          REQUIRE(bench.ui->has(name));
          CHECK(bench.ui->rect(name).max.y <= bench.ui->rect("training/example").min.y);
        }
    }
}

TEST_CASE("F11 enlarges the training for a hall, and its maps have room in a low window") {
  WINDOW_OR_SKIP(bench, open_unpainted(900, 600));
  bench.state().dialogs.training.task = "induction";  // of two layers
  bench.ui->key("N");
  wait_until_idle(bench);
  const UiRect map = bench.ui->rect("training/map/0/0.0");
  CHECK(map.max.y - map.min.y >= 60.0f);
  bench.ui->key("F11").run_until_still();
  CHECK(bench.ui->result().full_screen);
  CHECK(bench.ui->has("training/play"));
  bench.ui->key("F11");
  CHECK_FALSE(bench.ui->result().full_screen);
}
