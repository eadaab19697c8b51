// A panel that is not shown costs nothing: what frames work at is counted by name.
#include <doctest/doctest.h>

#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

// What is worked at while `act` goes on, and in ten frames after it.
template <class Act>
WorkProbes work_of(WindowBench& bench, Act act) {
  WorkProbes work;
  set_work_probes(&work);
  act();
  bench.ui->run_frames(10);
  set_work_probes(nullptr);
  return work;
}

}  // namespace

TEST_CASE(
    "with the stage alone nothing is worked at that is not on it, and everything is again when it comes "
    "back") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->run_until_still();
  const char* const panels[] = {"menu", "setup", "inspector", "graph", "status"};
  const auto edit = [&] { bench.ui->key("C"); };
  WorkProbes work = work_of(bench, edit);
  for (const char* panel : panels) CHECK_MESSAGE(work.contains(panel), panel);
  CHECK(work["layout differences"] == 1);  // once for the edit, not in every frame

  bench.ui->key("F");
  bench.ui->run_until_still();
  const long layouts = text_layouts().made();
  work = work_of(bench, [&] {
    edit();
    bench.ui->move_to("stage/result");
    bench.ui->key("Right");
    bench.ui->run_until_still();
    edit();
  });
  for (const char* hidden : {"menu", "setup", "inspector", "graph", "status", "layout differences",
                             "comparisons", "head statistics"})
    CHECK_MESSAGE(!work.contains(hidden), hidden);
  CHECK(text_layouts().made() == layouts);

  bench.ui->key("Escape");
  work = work_of(bench, [] {});
  for (const char* panel : panels) CHECK_MESSAGE(work.contains(panel), panel);
}

TEST_CASE(
    "a frame that shows what the one before it showed is not drawn, and is drawn where anything else shows") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  UiDriver& ui = *bench.ui;
  const auto drawn_by = [&](auto act) {
    ui.run_until_still();
    ui.run_frames(3);
    const long before = ui.pictures();
    act();
    return ui.pictures() - before;
  };
  // What stands there is what a frame drawn anew would show.
  const auto up_to_date = [&] {
    ui.run_until_still();
    ui.run_frames(2);
    const Image seen = ui.pixels();
    ui.forget_picture();
    ui.run_frames(1);
    return seen.rgba == ui.pixels().rgba;
  };
  CHECK(drawn_by([&] { ui.run_frames(10); }) == 0);
  for (const StageView view : {StageView::one_head, StageView::all_heads, StageView::compare}) {
    bench.window->state().view.selection.view = view;
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.run_frames(10); }) == 0);
    CHECK(drawn_by([&] { ui.key("C"); }) > 0);
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.key("Ctrl+Z"); }) > 0);
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.key("Right"); }) > 0);
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.move_to("setup/causal/on"); }) > 0);
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.move_to(5, 5); }) > 0);
  }
  CHECK(drawn_by([&] { ui.resize(1500, 900); }) > 0);
  CHECK(up_to_date());
}

TEST_CASE("figures of heads are computed in the views that show them, and once for each edit") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.window->state().view.selection.step = Step::softmax;
  bench.ui->run_until_still();
  const auto edit = [&] { bench.ui->key("C"); };
  CHECK_FALSE(work_of(bench, edit).contains("head statistics"));
  for (const StageView view : {StageView::all_heads, StageView::tokens}) {
    bench.window->state().view.selection.view = view;
    bench.ui->run_until_still();
    CHECK(work_of(bench, edit)["head statistics"] <= 1);
    CHECK_FALSE(work_of(bench, [] {}).contains("head statistics"));
  }
  CHECK_FALSE(work_of(bench, edit).contains("comparisons"));
}
