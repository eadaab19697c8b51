// The set-up of a training, and the way back to the one before.
#include <algorithm>

#include "tests/app/window/edit_bench.h"
#include "tests/app/window/training_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const TrainingDraft& draft_in(const WindowBench& bench) {
  return bench.state().dialogs.training.setup.draft;
}

// The whole text is drawn, in lines that break at blanks.
bool is_said_in_lines(const WindowBench& bench, std::string text) {
  while (!text.empty()) {
    std::size_t end = text.size();
    while (end != std::string::npos && end > 0 && !bench.ui->has("says/" + text.substr(0, end)))
      end = text.rfind(' ', end - 1);
    if (end == std::string::npos || end == 0) return false;
    text.erase(0, end + 1);
  }
  return true;
}

}  // namespace

TEST_CASE("a training is set up in the window, and begins at step 0, paused") {
  WINDOW_OR_SKIP(bench, open_training());
  bench.ui->click("training/setup").run_frames(2);
  REQUIRE(bench.ui->has("training/setup/sum"));
  CHECK_FALSE(bench.ui->has("training/plot"));
  bench.ui->click("training/setup/layers/3");
  type_into(bench, "training/setup/width", "32");
  type_into(bench, "training/setup/heads", "4");
  bench.ui->click("training/setup/feed_forward/off").click("training/setup/positions/rotary");
  bench.ui->click("training/setup/causal/off").click("training/setup/tied/tied");
  bench.ui->click("training/setup/sink/on");
  type_into(bench, "training/setup/latents", "6");
  bench.ui->click("training/setup/beginning/equal but W_O").click("training/setup/optimiser/momentum");
  type_into(bench, "training/setup/sliding_window", "5");
  type_into(bench, "training/setup/learning_rate", "0.25");
  type_into(bench, "training/setup/clip", "");
  type_into(bench, "training/setup/cosine", "300");
  type_into(bench, "training/setup/batch", "5");
  type_into(bench, "training/setup/seed", "77");
  type_into(bench, "training/setup/length", "12");
  type_into(bench, "training/setup/symbols", "9");
  CHECK(bench.ui->has("training/setup/sum"));
  const Index parameters = draft_in(bench).parameters;
  bench.ui->click("training/setup/begin");
  wait_until_idle(bench);
  CHECK_FALSE(bench.ui->has("training/setup/sum"));
  CHECK(bench.ui->has("training/plot"));
  CHECK(training_of(bench).reached() == 0);
  CHECK_FALSE(training_of(bench).playing());
  TrainingSettings wanted = usual_settings(named_task("previous-token", {.length = 12, .symbols = 9}));
  wanted.model.layers = 3;
  wanted.model.width = 32;
  wanted.model.heads = wanted.model.kv_heads = 4;
  wanted.model.feed_forward = false;
  wanted.model.positions = TrainPositions::rotary;
  wanted.model.causal = false;
  wanted.model.sliding_window = 5;
  wanted.model.tied = wanted.model.sink = true;
  wanted.model.latent_width = 6;
  wanted.model.heads_begin_equal = true;
  wanted.model.equal_out_projection = false;
  wanted.optimiser.kind = OptimiserKind::momentum;
  wanted.optimiser.learning_rate = 0.25;
  wanted.optimiser.clip_norm.reset();
  wanted.optimiser.cosine_steps = 300;
  wanted.batch = 5;
  wanted.seed = 77;
  CHECK(training_of(bench).runs().front().settings == wanted);
  CHECK(training_of(bench).task().length == 12);
  CHECK(parameters == train_parameter_count(train_parameters(wanted.model)));
}

TEST_CASE("a set-up that cannot be trained says why, does not begin, and leaves the training as it is") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 2);
  bench.ui->click("training/setup").run_frames(2);
  type_into(bench, "training/setup/width", "20");
  CHECK(bench.ui->has("training/setup/error"));
  CHECK_CONTAINS(draft_in(bench).error, "the number of heads must divide the model width");
  bench.ui->click("training/setup/begin").run_frames(2);
  CHECK(bench.ui->has("training/setup/error"));
  CHECK(training_of(bench).reached() == 2);
  type_into(bench, "training/setup/width", "abc");
  bench.ui->click("training/setup/begin").run_frames(2);
  CHECK(bench.ui->has("overlay/training"));
  CHECK(training_of(bench).reached() == 2);
  bench.ui->click("training/setup/usual").run_frames(2);
  CHECK(draft_in(bench).settings == training_of(bench).runs().front().settings);
  CHECK(bench.ui->has("training/setup/sum"));
  // Escape leads back to the training, and only then out of it.
  bench.ui->key("Escape").run_frames(2);
  CHECK(bench.ui->has("training/plot"));
  bench.ui->key("Escape").run_frames(2);
  CHECK_FALSE(bench.ui->has("overlay/training"));
  CHECK(training_of(bench).reached() == 2);
}

TEST_CASE("heads are dragged through the divisors of the width alone") {
  WINDOW_OR_SKIP(bench, open_training());
  bench.ui->click("training/setup").run_frames(2);
  const UiRect heads = bench.ui->rect("training/setup/heads");
  const float x = 0.5f * (heads.min.x + heads.max.x), y = 0.5f * (heads.min.y + heads.max.y);
  bench.ui->drag(x, y, x + 9.0f, y).run_frames(2);
  CHECK(draft_in(bench).settings.model.heads == 16);
  CHECK(draft_in(bench).settings.model.kv_heads == 16);
  CHECK(draft_in(bench).error.empty());
}

TEST_CASE("another task begins anew, and the list of tasks leads back to the training before") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 2);
  bench.ui->click("training/task").click("training/task/majority");
  wait_until_idle(bench);
  CHECK(training_of(bench).source().name == "majority");
  CHECK(training_of(bench).reached() == 0);
  bench.ui->click("training/task").click("training/task/previous-token, 2 steps");
  wait_until_idle(bench);
  CHECK(training_of(bench).source().name == "previous-token");
  CHECK(training_of(bench).step() == 2);
  CHECK(bench.state().dialogs.training.task == "previous-token");
}

TEST_CASE("a model that was looked into is on the line of its training again once one has gone back to it") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 3);
  bench.ui->click("training/map/0/0.1").run_frames(3);
  REQUIRE(bench.ui->has("checkpoint/back"));
  bench.ui->key("N").click("training/setup").run_frames(2).click("training/setup/begin");
  wait_until_idle(bench);
  CHECK(training_of(bench).reached() == 0);
  bench.ui->click("training/task").click("training/task/previous-token, 3 steps, 1 × 8 heads, E 64");
  wait_until_idle(bench);
  bench.ui->key("Escape").run_frames(3);
  bench.ui->check_shown({"checkpoint/back", "says/step 3 of 3"});
}

TEST_CASE("the change that is trained beside is marked, and its model can be saved") {
  WINDOW_OR_SKIP(bench, open_training());
  step_to(bench, 2);
  CHECK_FALSE(bench.ui->has("training/chosen_change"));
  bench.ui->click("training/change/no-scale").key("Space");
  wait_until_idle(bench);
  CHECK(bench.ui->rect("training/chosen_change").min.x == bench.ui->rect("training/change/no-scale").min.x);
  bench.ui->click("training/save");
  bench.ui->click("training/save/a PyTorch program (.py), " +
                  std::string(training_change_entry(TrainingChange::no_scale).with));
  bench.ui->run_frames(2);
  REQUIRE(bench.ui->has("overlay/file"));
  const TemporaryFolder folder;
  bench.ui->key("Ctrl+A").type(folder.file("without.py")).key("Enter").run_frames(2);
  wait_until_idle(bench);
  const std::string program = content_of(folder.file("without.py"));
  CHECK_CONTAINS(program, "scores = q @ k.transpose(-1, -2)\n");
}

TEST_CASE("a change is found by its letters, in capitals or not, and where none has them the list says so") {
  WINDOW_OR_SKIP(bench, open_training());
  for (const char* typed : {"qk-n", "QK-N"}) {
    bench.ui->click("training/changes").run_frames(2).type(typed).run_frames(2);
    CHECK(bench.ui->has("training/changes/QK-norm"));
    CHECK_FALSE(bench.ui->has("training/changes/nothing"));
    bench.ui->type("zz").run_frames(2);
    CHECK(bench.ui->has("training/changes/nothing"));
    bench.ui->key("Escape").run_frames(2);
  }
  bench.ui->click("training/changes").run_frames(2).type("gate").key("Enter").run_frames(3);
  CHECK(bench.ui->has("training/alone"));
}

TEST_CASE("the words of the held-out example are all there, and each habit's colour has its name") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}}) {
    WINDOW_OR_SKIP(bench, open_unpainted(width, height));
    bench.ui->key("N");  // induction
    wait_until_idle(bench);
    const LiveTraining& training = training_of(bench);
    std::string example = "Its heads on a held-out example:";
    for (const std::int32_t token : training.tokens())
      example += " " + training.task().token_texts[static_cast<std::size_t>(token)];
    CHECK(is_said_in_lines(bench, example));
    CHECK(bench.ui->has("training/legend"));
    for (const char* habit : {"previous token", "induction", "same token", "first token"})
      CHECK(bench.ui->has(std::string("says/") + habit));
    CHECK(bench.ui->rect("training/example").max.y <= bench.ui->rect("training/map/0/0.0").min.y);
  }
}

TEST_CASE("a short text of one's own is learned in shorter sequences, and is shown under its file's name") {
  WINDOW_OR_SKIP(bench, open_training());
  const TemporaryFolder folder;
  folder.with_file("haiku.txt", "an old silent pond\na frog jumps into the pond\nsplash! silence again\n");
  bench.ui->click("training/task").click("training/task/your own text …").run_frames(2).key("Ctrl+A");
  bench.ui->type(folder.file("haiku.txt")).key("Enter").run_frames(2);
  wait_until_idle(bench);
  REQUIRE(bench.ui->has("overlay/training"));
  CHECK(training_of(bench).task().length == 5);
  CHECK(bench.state().dialogs.training.task == "haiku.txt");
  CHECK(is_said_in_lines(bench, training_of(bench).task().what + " " + training_of(bench).task().note));
  step_to(bench, 1);
  bench.ui->click("training/setup").run_frames(2);
  type_into(bench, "training/setup/length", "6");
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("training/setup/error"));
  type_into(bench, "training/setup/length", "4");
  bench.ui->run_frames(2).click("training/setup/begin");
  wait_until_idle(bench);
  CHECK(training_of(bench).task().length == 4);
  CHECK(training_of(bench).name() == "haiku.txt");
}

TEST_CASE("the set-up fits the usual windows") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {900, 600}}) {
    WINDOW_OR_SKIP(bench, open_training(width, height));
    bench.ui->click("training/setup").run_frames(2);
    const UiRect frame = bench.ui->rect("overlay/training");
    for (const std::string& name : bench.ui->names()) {
      if (!name.starts_with("training/setup/")) continue;
      const UiRect rect = bench.ui->rect(name);
      CAPTURE(name);
      CHECK(rect.min.x >= frame.min.x);
      CHECK(rect.max.x <= frame.max.x + 1.0f);
    }
    CHECK(bench.ui->rect("training/setup/begin").max.y <= frame.max.y);
    bench.ui->save_png("training_setup_" + std::to_string(width));
  }
}
