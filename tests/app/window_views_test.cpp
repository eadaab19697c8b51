// The ways to look at the stage: each can be chosen, shows something of its own, and names cells under the mouse.
#include <doctest/doctest.h>

#include <set>

#include "tests/app/window_bench.h"

using namespace headwise;

TEST_CASE("A goes through the views, each of them another picture, and round again") {
  WindowBench bench = open_window();
  if (!bench.ui) return;
  bench.ui->click("step_bar/step/6");
  bench.ui->run_frames(3);
  std::set<std::vector<std::uint8_t>> pictures;
  for (int i = 0; i < stage_view_count; ++i) {
    pictures.insert(bench.ui->pixels().rgba);
    bench.ui->key("A");
    bench.ui->run_frames(3);
  }
  CHECK(pictures.size() == stage_view_count);
  CHECK(bench.selection().view == StageView::one_head);
}

TEST_CASE("in the view of tokens the mouse on a query names its strongest key, and a click pins the pair") {
  WindowBench bench = open_window(1600, 1000);
  if (!bench.ui) return;
  bench.ui->click("stage/view/Tokens");
  const UiRect queries = bench.ui->rect("stage/queries");
  const float row = (queries.max.y - queries.min.y) / 12;
  bench.ui->click(queries.max.x - 20, queries.min.y + 8.5f * row);
  REQUIRE(bench.selection().pinned);
  CHECK(bench.selection().pinned->tensor.id == TensorId::attn_weights);
  CHECK(bench.selection().pinned->index[2] == 8);
  const Index key = bench.selection().pinned->index[3];
  for (Index other = 0; other < 12; ++other) {
    CHECK(bench.trace().tensors.attn_weights->at({0, 0, 8, other}) <=
          bench.trace().tensors.attn_weights->at({0, 0, 8, key}));
  }
  // With a query pinned, a key names the pair.
  const UiRect keys = bench.ui->rect("stage/keys");
  bench.ui->move_to(keys.min.x + 20, keys.min.y + 3.5f * row);
  REQUIRE(bench.selection().hovered);
  CHECK(bench.selection().hovered->index == std::vector<Index>{0, 0, 8, 3});
  const Image few = bench.ui->pixels();
  bench.ui->click("stage/share/all");
  CHECK(bench.ui->pixels().rgba != few.rgba);
}

TEST_CASE("in the view of q ∘ k the query is chosen, and its figures are cells of the trace") {
  WindowBench bench = open_window(1600, 1000);
  if (!bench.ui) return;
  bench.ui->click("stage/view/q∘k");
  bench.ui->click("stage/query/forward");
  bench.ui->click("stage/query/forward");
  const UiRect weights = bench.ui->rect("stage/figure/attn_weights");
  const float row = (weights.max.y - weights.min.y) / 12;
  bench.ui->move_to(0.5f * (weights.min.x + weights.max.x), weights.min.y + 4.5f * row);
  REQUIRE(bench.selection().hovered);
  CHECK(bench.selection().hovered->tensor.id == TensorId::attn_weights);
  CHECK(bench.selection().hovered->index == std::vector<Index>{0, 0, 2, 4});
}

TEST_CASE("a mask of nothing but 0 and −inf is shown at every head, without colours to explain") {
  WindowBench bench = open_window();
  if (!bench.ui) return;
  bench.ui->key("C");
  bench.window->state().selection.tensor = TensorId::mask_bias;
  bench.window->state().selection.view = StageView::all_heads;
  bench.ui->run_frames(3);
  CHECK(bench.ui->has("stage/map/7"));
}
