// Edits through the window that have no result: what is said of them, where, and how they are put right.
#include "tests/app/window/edit_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("an impossible size shows its sentence beside the field and keeps the picture") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("End");
  const TracePtr before = bench.session().trace_ptr();
  const std::vector<std::uint8_t> stage = part(bench, "panel/stage");
  type_into(bench, "setup/num_heads", "7");
  CHECK_FALSE(bench.session().error().empty());
  CHECK(bench.session().trace_ptr() == before);
  REQUIRE(bench.ui->has("error"));
  const UiRect sentence = bench.ui->rect("error"), field = bench.ui->rect("setup/num_heads");
  CHECK(sentence.min.y >= field.max.y - 1);
  CHECK(sentence.min.y < field.max.y + 30);
  CHECK(part(bench, "panel/stage") == stage);
  CHECK_FALSE(bench.ui->has("notice/lasting"));
  // 126 = 7 · 18: possible again.
  type_into(bench, "setup/embed_dim", "126");
  CHECK(bench.session().error() == "");
  CHECK(bench.trace().options.head_dim == 18);
  CHECK_FALSE(bench.ui->has("error"));
  bench.ui->key("Escape");
  bench.ui->key("Ctrl+Z");
  check_identical(*before, bench.trace());
}

TEST_CASE("what is no number is told under its field and asked for by nobody") {
  WINDOW_OR_SKIP(bench, open_window());
  const Scenario before = bench.scenario();
  for (const char* nonsense : {"abc", "1e9", "12.5", "--3", "99999999999999999999", ""}) {
    type_into(bench, "setup/embed_dim", nonsense);
    CAPTURE(nonsense);
    CHECK(bench.scenario() == before);
    CHECK(bench.ui->has("error"));
  }
  bench.ui->key("Escape");
  CHECK_FALSE(bench.ui->has("error"));
  CHECK(bench.session().history().step_count() == 1);
  for (const char* size : {"-1", "0", "9223372036854775807", "1000000007"}) {
    type_into(bench, "setup/embed_dim", size);
    bench.window->state().document.session.finish();
    bench.ui->run_frames(2);
    CAPTURE(size);
    CHECK_FALSE(bench.session().error().empty());
    CHECK(bench.ui->has("error"));
  }
  bench.ui->key("Escape");
  bench.ui->key("Escape");  // lets go of what cannot be shown
  CHECK(bench.scenario() == before);
}

TEST_CASE("a refused value is told over the stage once its field is left, and the next edit drops it") {
  for (const bool by_key : {true, false}) {
    WINDOW_OR_SKIP(bench, open_window());
    type_into(bench, "setup/num_heads", "7");
    CHECK_FALSE(bench.ui->has("notice/lasting"));
    bench.ui->key("Enter");
    CHECK_FALSE(bench.session().error().empty());
    CHECK(bench.ui->has("notice/lasting"));
    CHECK(bench.ui->has("error"));
    if (by_key) {
      bench.ui->key("C");
    } else {
      bench.ui->click("setup/causal/on");
    }
    CHECK(bench.session().error() == "");
    CHECK_FALSE(bench.ui->has("notice/lasting"));
    CHECK_FALSE(bench.ui->has("error"));
    CHECK(bench.scenario().attention.num_heads == 8);
    CHECK(bench.scenario().mask.is_causal);
    CHECK(bench.session().last_edit().starts_with(
        "num_heads was reset to 8. Causal mask on: 46 % of the pairs are blocked"));
    bench.ui->key("Ctrl+Z");
    CHECK(bench.scenario() == preset_scenario("hand_made"));
  }
}

TEST_CASE("an error under a row at the foot of the setup is scrolled to, once") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  const UiRect panel = bench.ui->rect("panel/setup");
  // The row stands just over the foot: what is said under it would be cut.
  bench.ui->move_to(0.5 * (panel.min.x + panel.max.x), 0.5 * (panel.min.y + panel.max.y));
  for (int i = 0; i < 40 && bench.ui->rect("setup/num_heads").max.y > panel.max.y; ++i)
    bench.ui->wheel(-0.25);
  const UiRect row = bench.ui->rect("setup/num_heads");
  REQUIRE(row.max.y <= panel.max.y);
  bench.ui->resize(1280, static_cast<int>(720 - (panel.max.y - row.max.y) + 4));
  type_into(bench, "setup/num_heads", "7");
  bench.ui->run_frames(3);
  REQUIRE(bench.ui->has("error"));
  const UiRect there = bench.ui->rect("panel/setup");
  CHECK(bench.ui->rect("error").max.y <= there.max.y);
  CHECK(bench.ui->rect("setup/num_heads").min.y >= there.min.y);
  // Who scrolls on is not taken back.
  bench.ui->move_to(0.5 * (there.min.x + there.max.x), there.min.y + 20);
  bench.ui->wheel(3);
  bench.ui->run_frames(3);
  CHECK(bench.ui->rect("error").max.y > there.max.y);
}

TEST_CASE("the error stays with the row at fault: an edit that is wrong too drops the one before") {
  WINDOW_OR_SKIP(bench, open_window(900, 1340));
  type_into(bench, "setup/num_heads", "7");
  type_into(bench, "setup/temperature", "-1");
  CHECK(bench.scenario().attention.num_heads == 8);
  CHECK(bench.scenario().attention.temperature == -1.0);
  CHECK_CONTAINS(bench.session().error(), "temperature");
  CHECK_CONTAINS(bench.session().last_edit(), "num_heads was reset to 8");
  const UiRect sentence = bench.ui->rect("error"), field = bench.ui->rect("setup/temperature");
  CHECK(sentence.min.y >= field.max.y - 1);
  CHECK(sentence.min.y < field.max.y + 30);
  // A head that is muted now is one of eight.
  type_into(bench, "setup/temperature", "1");
  type_into(bench, "setup/num_heads", "7");
  bench.ui->key("Enter");
  bench.ui->key("2");
  bench.ui->key("M");
  CHECK(bench.session().error() == "");
  REQUIRE(bench.scenario().head_gain);
  CHECK(*bench.scenario().head_gain == std::vector<double>{1, 1, 0, 1, 1, 1, 1, 1});
}

TEST_CASE("what has no result is not saved, and one sentence says so") {
  WINDOW_OR_SKIP(bench, open_window());
  const auto told = [&] {
    const auto& notices = bench.window->state().view.notices.notices;
    return notices.empty() ? std::string() : notices.back().text;
  };
  type_into(bench, "setup/num_heads", "7");
  bench.ui->key("Enter");
  bench.ui->key("Ctrl+S");
  CHECK_FALSE(bench.window->state().dialogs.files.open);
  CAPTURE(told());
  CHECK(told().starts_with("Not saved: "));
  CHECK_CONTAINS(told(), "num_heads");
  bench.ui->key("Ctrl+Z");
  bench.ui->key("Ctrl+S");
  CHECK(bench.window->state().dialogs.files.open);
}

TEST_CASE("Escape puts a refused value back, and a drag stays at the last value that there is a result for") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1600));
  type_into(bench, "setup/num_heads", "7");
  CHECK_FALSE(bench.session().error().empty());
  bench.ui->key("Escape");
  CHECK(bench.session().error().empty());
  CHECK(bench.scenario().attention.num_heads == 8);

  const UiRect rect = bench.ui->rect("setup/num_heads");
  const float x = rect.max.x - 20, y = 0.5f * (rect.min.y + rect.max.y);
  bench.ui->drag(x, y, x + 40, y, 20);  // 16, 32 …: too narrow for heads that are made by hand
  bench.ui->run_frames(3);
  CHECK(bench.session().error().empty());
  CHECK(bench.scenario().attention.num_heads > 8);
  CHECK(bench.scenario().attention.num_heads == bench.trace().options.num_heads);
}
