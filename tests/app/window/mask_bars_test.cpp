// The row of weights under a mask that is being painted: as bars, before the stroke and now.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/stage/mask_bars.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

constexpr Index row_query = 4, row_key = 3;

double bar_height(const WindowBench& bench, const std::string& name, Index at) {
  const UiRect rect = bench.ui->rect(fmt::format("stage/mask_bars/{}/{}", name, at));
  return static_cast<double>(rect.max.y - rect.min.y);
}

// The middle of a cell of the result.
ImVec2 middle_of_cell(const WindowBench& bench, Index row, Index col) {
  const UiRect map = bench.ui->rect("stage/result");
  const auto count = static_cast<float>(bench.trace().tensors.attn_weights->shape().size(3));
  return {map.min.x + (static_cast<float>(col) + 0.5f) * (map.max.x - map.min.x) / count,
          map.min.y + (static_cast<float>(row) + 0.5f) * (map.max.y - map.min.y) / count};
}

// The weights of `row_query` in the head that is shown.
std::vector<double> weights_now(const WindowBench& bench) {
  return weights_of_row(bench.trace().tensors.attn_weights, 0, bench.selection().head, row_query);
}

void hover_over(WindowBench& bench, Index row, Index col) {
  const ImVec2 at = middle_of_cell(bench, row, col);
  bench.ui->move_to(at.x, at.y);
}

WindowBench with_brush(int width, int height) {
  WindowBench bench = open_window(width, height);
  if (!bench.ui) return bench;
  bench.ui->click("step_bar/step/5").run_until_still().click("stage/brush/paint");
  return bench;
}

// Whether each bar is as high as its weight is, to a pixel, measured by the highest of all bars.
void check_heights(const WindowBench& bench, const std::string& name, const std::vector<double>& row,
                   double largest, double highest) {
  REQUIRE(row.size() == 12);
  for (std::size_t i = 0; i < row.size(); ++i) {
    CAPTURE(name);
    CAPTURE(i);
    CHECK(std::abs(bar_height(bench, name, static_cast<Index>(i)) - highest * row[i] / largest) <= 1.0);
  }
}

bool boxes_apart(const UiRect& a, const UiRect& b) {
  return a.max.x <= b.min.x || b.max.x <= a.min.x || a.max.y <= b.min.y || b.max.y <= a.min.y;
}

}  // namespace

TEST_CASE("with the brush over a row its weights are bars; without the brush or the mouse there are none") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/5").run_until_still();
  hover_over(bench, row_query, row_key);
  CHECK_FALSE(bench.ui->has("stage/mask_bars"));
  bench.ui->click("stage/brush/paint");
  CHECK_FALSE(bench.ui->has("stage/mask_bars"));
  hover_over(bench, row_query, row_key);
  REQUIRE(bench.ui->has("stage/mask_bars"));
  CHECK_FALSE(bench.ui->has("stage/mask_bars/before/0"));
  const std::vector<double> row = weights_now(bench);
  const double largest = *std::ranges::max_element(row);
  const auto highest = static_cast<Index>(std::ranges::max_element(row) - row.begin());
  CHECK(bar_height(bench, "now", highest) > 10.0);
  check_heights(bench, "now", row, largest, bar_height(bench, "now", highest));
}

TEST_CASE("a painted pair's share drains into the other keys of its row: outlines before, filled bars now") {
  for (const auto& [width, height_] : {std::pair{1280, 720}, {1600, 1000}}) {
    CAPTURE(width);
    WINDOW_OR_SKIP(bench, with_brush(width, height_));
    const std::vector<double> before = weights_now(bench);
    const ImVec2 at = middle_of_cell(bench, row_query, row_key);
    bench.ui->click(at.x, at.y).run_until_still();
    hover_over(bench, row_query, row_key);
    const std::vector<double> now = weights_now(bench);
    REQUIRE(now[row_key] == 0.0);
    REQUIRE(before[row_key] > 0.0);
    const double largest = std::max(*std::ranges::max_element(before), *std::ranges::max_element(now));
    double highest = 0.0;
    for (Index i = 0; i < 12; ++i)
      highest = std::max({highest, bar_height(bench, "now", i), bar_height(bench, "before", i)});
    CHECK(highest > 10.0);
    check_heights(bench, "before", before, largest, highest);
    check_heights(bench, "now", now, largest, highest);
    CHECK(bar_height(bench, "now", row_key) == 0.0);

    // Another row is as it was: every outline lies on its bar.
    hover_over(bench, row_query + 1, row_key);
    for (Index i = 0; i < 12; ++i) CHECK(bar_height(bench, "now", i) == bar_height(bench, "before", i));
    // The next stroke begins anew, and undo brings the row back to where it was.
    bench.ui->key("Ctrl+Z").run_until_still();
    hover_over(bench, row_query, row_key);
    for (Index i = 0; i < 12; ++i) CHECK(bar_height(bench, "now", i) == bar_height(bench, "before", i));
  }
}

TEST_CASE("the first stroke on a map without a mask moves nothing: with the brush its place is free") {
  for (const auto& [width, height_] : {std::pair{1280, 720}, {1600, 1000}}) {
    CAPTURE(width);
    WINDOW_OR_SKIP(bench, with_brush(width, height_));
    bench.ui->run_until_still();
    const UiRect result = bench.ui->rect("stage/result"), place = bench.ui->rect("stage/mask_to_come");
    // The free place stands for the pairs of the map: a stroke can begin there too.
    const float down = (place.max.y - place.min.y) / 12.0f, right = (place.max.x - place.min.x) / 12.0f;
    bench.ui->click(place.min.x + 3.5f * right, place.min.y + 4.5f * down).run_until_still();
    REQUIRE(bench.trace().tensors.mask_bias);
    CHECK(std::isinf(bench.trace().tensors.mask_bias->at({0, bench.selection().head, row_query, row_key})));
    CHECK_FALSE(bench.ui->has("stage/mask_to_come"));
    const UiRect after = bench.ui->rect("stage/result"), mask = bench.ui->rect("stage/above");
    CHECK(after.min.x == result.min.x);
    CHECK(after.min.y == result.min.y);
    CHECK(after.max.x == result.max.x);
    CHECK(after.max.y == result.max.y);
    CHECK(mask.min.y == place.min.y);
  }
}

TEST_CASE("the bars stand in the foot of the stage, over nothing else, each under its column") {
  for (const auto& [width, height_] : {std::pair{1280, 720}, {1600, 1000}}) {
    CAPTURE(width);
    WINDOW_OR_SKIP(bench, with_brush(width, height_));
    for (const bool masked : {false, true}) {
      CAPTURE(masked);
      if (masked) bench.ui->key("C");
      bench.ui->run_until_still();
      hover_over(bench, 9, 2);
      const UiRect bars = bench.ui->rect("stage/mask_bars"), result = bench.ui->rect("stage/result");
      CHECK(bars.min.y >= result.max.y);
      CHECK(bars.max.x <= static_cast<float>(width));
      CHECK(bars.max.y <= static_cast<float>(height_));
      for (const char* name : {"stage/left", "stage/above", "stage/legend/blocked: −∞"})
        if (bench.ui->has(name)) CHECK_MESSAGE(boxes_apart(bars, bench.ui->rect(name)), name);
      for (Index i = 0; i < 12; ++i) {
        const UiRect bar = bench.ui->rect(fmt::format("stage/mask_bars/now/{}", i));
        CHECK(bar.max.y <= bars.max.y);
        CHECK(bar.min.y >= bars.min.y);
        REQUIRE(bars.min.x == result.min.x);
        CHECK(std::abs(0.5f * (bar.min.x + bar.max.x) - middle_of_cell(bench, 0, i).x) <= 2.0f);
      }
    }
  }
}

TEST_CASE("a row that the weights lack gives no bars, and a stage without a foot gives them no place") {
  const auto weights = std::make_shared<const Tensor>(Shape{{"N", 1}, {"H", 1}, {"L", 1}, {"S", 2}},
                                                      std::vector<double>{0.25, 0.75});
  CHECK(weights_of_row(weights, 0, 0, 0) == std::vector<double>{0.25, 0.75});
  CHECK(weights_of_row(weights, 0, 0, 1).empty());
  CHECK(weights_of_row(weights, 0, 1, 0).empty());
  CHECK(weights_of_row(weights, 1, 0, 0).empty());
  CHECK(weights_of_row(nullptr, 0, 0, 0).empty());
  StageLayout layout;
  layout.result = {400, 100, 300, 200};
  const RectF area{0, 0, 800, 400};
  CHECK_FALSE(mask_bars_place(layout, area, 300, 12, false, 1.0));
  layout.bars = {{0, 350, 150, 8}};
  const auto under = mask_bars_place(layout, area, 300, 12, false, 1.0);
  REQUIRE(under);
  CHECK(under->under_columns);
  CHECK(under->rect.x == 400);
  // What reaches into the column of the result, and rows that are keys, move them to the right of it.
  const auto beside = mask_bars_place(layout, area, 450, 12, false, 1.0);
  REQUIRE(beside);
  CHECK_FALSE(beside->under_columns);
  CHECK(beside->rect.x >= 450);
  CHECK_FALSE(mask_bars_place(layout, area, 300, 12, true, 1.0)->under_columns);
  CHECK_FALSE(mask_bars_place(layout, area, 780, 12, false, 1.0));
  CHECK_FALSE(mask_bars_place(layout, {0, 0, 800, 340}, 300, 12, false, 1.0));
}
