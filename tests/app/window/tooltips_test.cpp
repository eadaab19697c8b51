// Every control says what it is when the mouse rests on it.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "app/content/stage_views.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

// Names of the probe that are no controls: grounds, maps, texts, and the menus,
// whose entries say what they do.
bool is_control(const std::string& name) {
  constexpr std::array<std::string_view, 11> none{
      "panel/",  "stage/result", "stage/left",      "stage/above", "stage/bias", "stage/legend",
      "digits/", "status/",      "inspector/terms", "menu/",       "color_bar/"};
  if (name.starts_with("first_steps") || name == "tooltip" || name.starts_with("inspector/term/") ||
      name.starts_with("followed/") || name.starts_with("heads/name/") || name == "inspector/following" ||
      name == "inspector/map" || name == "inspector/row")
    return false;
  return std::ranges::none_of(none, [&](std::string_view each) { return name.starts_with(each); });
}

template <class Wanted>
std::vector<std::string> silent_controls(WindowBench& bench, Wanted wanted) {
  std::vector<std::string> silent;
  for (const std::string& name : bench.ui->names()) {
    if (!is_control(name) || !wanted(name)) continue;
    const UiRect rect = bench.ui->rect(name);
    if (rect.max.x - rect.min.x < 1.0f) continue;
    bench.ui->move_to(2, 2);
    bench.ui->move_to(0.5 * (rect.min.x + rect.max.x), 0.5 * (rect.min.y + rect.max.y)).run_frames(3, 0.4);
    if (!bench.ui->has("tooltip")) silent.push_back(name);
  }
  return silent;
}

}  // namespace

TEST_CASE("every control of the window says what it is when the mouse rests on it") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1700));
  bench.ui->rasterise(false);
  bench.selection().step = Step::scores;
  bench.selection().pinned = CellRef{{TensorId::scores}, {0, 0, 6, 3}};
  bench.ui->run_frames(3);
  CHECK(fmt::format("{}", fmt::join(silent_controls(bench, [](std::string_view) { return true; }), ", ")) ==
        "");
}

TEST_CASE("the controls of every view of the stage say what they are") {
  for (int view = 0; view < stage_view_count; ++view) {
    WINDOW_OR_SKIP(bench, open_window(1600, 1000));
    bench.ui->rasterise(false);
    bench.selection().step = Step::mask;
    bench.selection().view = static_cast<StageView>(view);
    bench.ui->run_frames(4);
    CAPTURE(stage_view_entry(static_cast<StageView>(view)).name);
    // The maps of a view are no controls: the inspector speaks of what is under the mouse.
    constexpr std::array<std::string_view, 11> choices{
        "stage/view/",  "stage/picture/", "stage/brush/",     "stage/query/", "stage/heads/", "stage/plane/",
        "stage/batch/", "stage/share/",   "stage/direction/", "stage/loss/",  "stage/beside/"};
    const std::vector<std::string> silent = silent_controls(bench, [&](std::string_view name) {
      return std::ranges::any_of(choices, [&](std::string_view each) { return name.starts_with(each); });
    });
    CHECK(fmt::format("{}", fmt::join(silent, ", ")) == "");
  }
}

TEST_CASE("a tooltip stands beside its control's column, and goes at a key, a click and when it was read") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const UiRect control = bench.ui->rect("setup/causal"), column = bench.ui->rect("panel/setup");
  const auto rest = [&] {
    bench.ui->move_to(2, 2);
    bench.ui->move_to(control.max.x - 10, 0.5f * (control.min.y + control.max.y)).run_frames(3, 0.4);
  };
  rest();
  CHECK(bench.ui->rect("tooltip").min.x >= column.max.x);
  bench.ui->key("Right");
  CHECK_FALSE(bench.ui->has("tooltip"));
  bench.ui->run_frames(3, 0.4);
  CHECK_FALSE(bench.ui->has("tooltip"));

  rest();
  REQUIRE(bench.ui->has("tooltip"));
  bench.ui->click(control.max.x - 10, 0.5f * (control.min.y + control.max.y)).run_frames(3, 0.4);
  CHECK_FALSE(bench.ui->has("tooltip"));

  rest();
  REQUIRE(bench.ui->has("tooltip"));
  bench.ui->run_frames(60, 0.5);
  CHECK_FALSE(bench.ui->has("tooltip"));
}

TEST_CASE("over the stage a tooltip covers none of its line") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  const UiRect control = bench.ui->rect("stage/view/Compare");
  bench.ui->move_to(0.5f * (control.min.x + control.max.x), 0.5f * (control.min.y + control.max.y));
  bench.ui->run_frames(3, 0.4);
  const UiRect told = bench.ui->rect("tooltip");
  CHECK((told.max.y <= control.min.y || told.min.y >= control.max.y));
}
