// The line at the foot of the window, and the layout of the projection chosen in the setup.
#include <chrono>
#include <thread>

#include "app/window/menu_bar.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("the layout of the projection is chosen in the setup, changes no number, and undo takes it back") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  const Scenario before = bench.scenario();
  const TracePtr packed = bench.session().trace_ptr();
  REQUIRE(packed->tensors.in_proj_weight);
  bench.ui->click("setup/layout/3·H");
  CHECK(bench.scenario().parameters.layout == ProjectionLayout::per_head);
  CHECK_FALSE(bench.trace().tensors.in_proj_weight);
  REQUIRE(bench.trace().tensors.k_proj_weight);
  CHECK(identical(*bench.trace().tensors.output, *packed->tensors.output));
  bench.ui->click("setup/layout/3");
  CHECK(bench.scenario().parameters.layout == ProjectionLayout::separate);
  CHECK_CONTAINS(bench.session().undo_label(), "in_proj as 3 matrices");
  bench.ui->key("Escape").key("Ctrl+Z").key("Ctrl+Z");
  CHECK(bench.scenario() == before);
  CHECK(bench.trace().tensors.in_proj_weight);
}

TEST_CASE("the window's foot tells the edit, the time and the number under the mouse, at every usual size") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {1920, 1080}}) {
    bench.ui->resize(width, height).move_to("stage/result");
    for (const char* name : {"status/last_edit", "status/time", "status/cell"}) {
      CAPTURE(name);
      REQUIRE(bench.ui->has(name));
      const UiRect line = bench.ui->rect(name), panel = bench.ui->rect("panel/status");
      CHECK(line.min.x >= panel.min.x);
      CHECK(line.max.x <= panel.max.x + 1);
      CHECK(line.max.y <= static_cast<float>(height));
    }
    CHECK(bench.ui->rect("status/last_edit").max.x < bench.ui->rect("status/time").min.x);
    CHECK(bench.ui->rect("status/time").max.x < bench.ui->rect("status/cell").min.x);
  }
  bench.ui->move_to(3, 3);
  CHECK_FALSE(bench.ui->has("status/cell"));
}

TEST_CASE("the time is told with how many tensors it was spent on") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  const std::size_t all = bench.trace().computed.size();  // of the first trace: every stage
  REQUIRE(all > 10);
  CHECK(compute_text(bench.trace(), 0.0013) ==
        "computed " + std::to_string(all) + " of " + std::to_string(all) + " tensors in 1.3 ms");
  bench.ui->key("M");
  CHECK(compute_text(bench.trace(), 0.25) == "computed 2 of " + std::to_string(all) + " tensors in 250 ms");
  CHECK(bench.session().computation()->seconds > 0.0);
  CHECK(compute_text(bench.trace(), 2.0).ends_with("in 2.0 s"));
}

TEST_CASE("a long computation shows how far it has come, and Escape gives it up at once") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  const Scenario before = bench.scenario();
  Scenario large = before;
  large.inputs.source = InputSource::random;
  large.inputs.query_length = 2048;
  large.attention.embed_dim = 4096;
  large.attention.num_heads = 32;
  bench.session().edit(large, "sizes");
  REQUIRE(bench.session().computing());
  bench.ui->run_frames(1);
  CHECK_FALSE(bench.ui->has("status/progress"));  // a short wait is not worth a word
  while (bench.session().computing() && !bench.ui->has("status/progress")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    bench.ui->run_frames(1);
  }
  REQUIRE(bench.session().computing());
  const UiRect bar = bench.ui->rect("status/progress"), words = bench.ui->rect("status/time");
  CHECK(bar.max.x <= words.max.x + 1);
  CHECK(bar.min.x == doctest::Approx(words.min.x).epsilon(0.01));
  // it goes on without anybody moving the mouse
  CHECK(bench.ui->result().wake_after <= seconds_between_words);
  CHECK_FALSE(bench.ui->has("status/cell"));
  bench.ui->key("Escape");
  CHECK_FALSE(bench.session().computing());
  CHECK(bench.scenario() == before);
  CHECK_FALSE(bench.ui->has("status/progress"));
  CHECK(bench.session().last_edit() == "Cancelled. Nothing was changed.");
  CHECK(bench.session().undo_label().empty());
}
