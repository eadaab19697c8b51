// The mask painted with the mouse, a number set by hand, and a pattern chosen.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

bool blocked(const WindowBench& bench, Index query, Index key) {
  const TensorPtr mask = bench.trace().tensors.mask_bias;
  return mask && mask->at({0, 0, query, key}) == -INFINITY;
}

}  // namespace

TEST_CASE("a stroke over the map blocks every pair that it meets, and is one step of undo") {
  WindowBench bench = open_window(1600, 1000);
  if (!bench.ui) return;
  bench.ui->click("step_bar/step/5");
  bench.ui->run_frames(70);
  bench.ui->click("stage/brush/paint");
  const UiRect map = bench.ui->rect("stage/result");
  const float w = (map.max.x - map.min.x) / 12, h = (map.max.y - map.min.y) / 12;
  bench.ui->drag(map.min.x + 2.5f * w, map.min.y + 4.5f * h, map.min.x + 7.5f * w, map.min.y + 4.5f * h, 20);
  for (Index key = 2; key <= 7; ++key) CHECK(blocked(bench, 4, key));
  CHECK_FALSE(blocked(bench, 4, 8));
  CHECK_FALSE(blocked(bench, 5, 4));
  CHECK_FALSE(bench.selection().pinned);
  bench.ui->run_frames(5);
  // A stroke that begins on a blocked pair frees.
  const UiRect again = bench.ui->rect("stage/result");
  bench.ui->click(again.min.x + 3.5f * w, again.min.y + 4.5f * (again.max.y - again.min.y) / 12);
  CHECK_FALSE(blocked(bench, 4, 3));
  bench.ui->key("Ctrl+Z");
  CHECK(blocked(bench, 4, 3));
  bench.ui->key("Ctrl+Z");
  CHECK_FALSE(bench.trace().tensors.mask_bias);
  CHECK(bench.scenario().edits.empty());
}

TEST_CASE("a number of the input is set by hand, the output follows, and it can be forgotten") {
  WindowBench bench = open_window(1600, 1400);
  if (!bench.ui) return;
  const UiRect map = bench.ui->rect("stage/result");
  bench.ui->click(map.min.x + 3, map.min.y + 3);
  REQUIRE(bench.selection().pinned);
  CHECK(bench.selection().pinned->tensor.id == TensorId::query);
  const double before = bench.output(0);
  bench.ui->click("inspector/set");
  bench.ui->key("Ctrl+A");
  bench.ui->type("3.5");
  CHECK(bench.trace().tensors.query->at(bench.selection().pinned->index) == 3.5);
  CHECK(bench.output(0) != before);
  REQUIRE(bench.scenario().edits.size() == 1);
  bench.ui->key("Escape");
  const UiRect ways = bench.ui->rect("setup/edits");
  bench.ui->click(ways.max.x - 8, 0.5f * (ways.min.y + ways.max.y));
  CHECK(bench.scenario().edits.empty());
  CHECK(bench.output(0) == before);
}

TEST_CASE("a pattern is chosen from a list") {
  WindowBench bench = open_window(1600, 1400);
  if (!bench.ui) return;
  const UiRect row = bench.ui->rect("setup/preset");
  bench.ui->click(row.max.x - 6, 0.5f * (row.min.y + row.max.y));
  bench.ui->click("setup/preset/document:0,6");
  REQUIRE(bench.scenario().mask.preset);
  CHECK(*bench.scenario().mask.preset == "document:0,6");
  CHECK(bench.session().error() == "");
  CHECK(bench.trace().tensors.mask_bias);
}
