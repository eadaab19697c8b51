// The view of memory order: which float lies where after view and transpose.
#include <doctest/doctest.h>

#include "app/content/memory_scene.h"
#include "core/tensor/error.h"
#include "tests/app/stage/stage_trace.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

MemoryScene scene_of(const TracedScenario& given, const Selection& selection) {
  const auto scene = memory_scene(*given.trace, selection, given.scenario.inputs.batch_first);
  REQUIRE(scene);
  return *scene;
}

// The middle of a cell of a drawn matrix.
ImVec2 middle(const UiRect& rect, Index rows, Index cols, Index row, Index col) {
  const float width = (rect.max.x - rect.min.x) / static_cast<float>(cols);
  const float height = (rect.max.y - rect.min.y) / static_cast<float>(rows);
  return {rect.min.x + (static_cast<float>(col) + 0.5f) * width,
          rect.min.y + (static_cast<float>(row) + 0.5f) * height};
}

void move_to(WindowBench& bench, ImVec2 at) {
  bench.ui->move_to(at.x, at.y);
}

WindowBench open_memory(Step step, int width = 1280, int height = 720,
                        const Scenario& scenario = preset_scenario("hand_made")) {
  WindowBench bench = open_window(width, height, scenario);
  if (!bench.ui) return bench;
  bench.selection().step = step;
  bench.ui->run_frames(2).key("O");
  return bench;
}

}  // namespace

TEST_CASE("the offset of a cell is told as a formula with its numbers") {
  const TracedScenario given =
      traced({"attention.embed_dim=64", "attention.num_heads=8", "inputs.query_length=12"});
  Selection selection;
  selection.step = Step::split_heads;
  selection.head = 2;
  selection.pinned = CellRef{{TensorId::q_heads}, {0, 2, 3, 5}};
  const MemoryScene scene = scene_of(given, selection);
  CHECK_FALSE(scene.example);
  CHECK(offset_formulas(scene.order.states, scene.cell) ==
        std::vector<std::string>{"offset = h·D + l·E + d = 2·8 + 3·64 + 5 = 213"});
  CHECK(offset_formulas(scene.order.wrong, scene.cell) ==
        std::vector<std::string>{"offset = h·L·D + l·D + d = 2·96 + 3·8 + 5 = 221"});
  // The same float by its column of q.
  selection.pinned = CellRef{{TensorId::q}, {0, 3, 21}};
  CHECK(scene_of(given, selection).first_float == 213);
  CHECK(scene_of(given, selection).cell_of_float(213) == CellRef{{TensorId::q_heads}, {0, 2, 3, 5}});
  // Behind a copy a cell has two places.
  selection.step = Step::concat;
  selection.pinned = CellRef{{TensorId::concat}, {0, 3, 21}};
  const MemoryScene joined = scene_of(given, selection);
  CHECK(joined.memories() == 2);
  CHECK(offset_formulas(joined.order.states, joined.cell, false) ==
        std::vector<std::string>{"offset in copy = 3·64 + 21 = 213", "offset = 3·8 + 2·96 + 5 = 221"});
}

TEST_CASE("every tensor of every step has a memory order, whatever the options are") {
  for (const TracedScenario& given :
       {traced(), traced({"inputs.batch=2", "inputs.batch_first=false"}),
        traced({"attention.num_heads=4", "attention.num_kv_heads=2", "inputs.self_attention=false",
                "inputs.key_length=7", "attention.add_bias_kv=true", "attention.add_zero_attn=true",
                "inputs.batch_first=false"}),
        traced({"attention.head_dim=5", "attention.v_head_dim=2"}),
        traced({"attention.num_heads=1", "inputs.query_length=1"}),
        traced({"op=scaled_dot_product_attention"})}) {
    for (int step = 0; step < step_count; ++step) {
      Selection selection;
      selection.step = static_cast<Step>(step);
      for (const StepPicture& picture : step_pictures(selection.step, *given.trace)) {
        selection.tensor = picture.result;
        const MemoryScene scene = scene_of(given, selection);
        const MatrixView& view = scene.matrix.view;
        for (Index row = 0; row < view.rows; ++row) {
          for (Index col = 0; col < view.cols; ++col) {
            const Index at = scene.right_float(row, col);
            REQUIRE(scene.cell_of_float(at) == cell_at(scene.matrix, row, col));
            REQUIRE(at >= 0);
            REQUIRE(at < scene.floats());
            if (!scene.order.wrong.empty()) REQUIRE(scene.wrong_float(row, col) < scene.floats());
          }
        }
        CHECK_FALSE(memory_words(scene, *given.trace).empty());
      }
    }
  }
}

TEST_CASE("O shows the memory order of the split; cell, wrong reading and float are one cell, both ways") {
  WINDOW_OR_SKIP(bench, open_memory(Step::split_heads));
  CHECK(bench.selection().view == StageView::memory);
  bench.ui->check_shown({"stage/memory/0", "stage/memory/1", "stage/memory/2", "stage/memory/wrong"});
  bench.ui->key("1");
  const CellRef cell{{TensorId::q_heads}, {0, 1, 3, 5}};
  const Image before = bench.ui->pixels();
  move_to(bench, middle(bench.ui->rect("stage/memory/right"), 12, 16, 3, 5));
  CHECK(bench.selection().hovered == cell);
  CHECK(bench.ui->pixels().rgba != before.rgba);
  move_to(bench, middle(bench.ui->rect("stage/memory/misread"), 12, 16, 3, 5));
  CHECK(bench.selection().hovered == cell);
  // q is (1,12,128): token 3, head 1, d 5 lies at 3·128 + 1·16 + 5.
  move_to(bench, middle(bench.ui->rect("stage/memory/lane/0"), 1, 1536, 0, 405));
  REQUIRE(bench.selection().hovered);
  CHECK(std::abs(bench.selection().hovered->index[3] - 5) <= 2);  // a pixel has two floats
  CHECK(bench.selection().hovered->index[2] == 3);

  const ImVec2 at = middle(bench.ui->rect("stage/memory/right"), 12, 16, 3, 5);
  bench.ui->click(at.x, at.y);
  CHECK(bench.selection().pinned == cell);
  // The enlarged floats stand around it; the mouse on one of them does not move them.
  const UiRect floats = bench.ui->rect("stage/memory/floats");
  bench.ui->move_to(floats.min.x + 3, 0.5 * (floats.min.y + floats.max.y));
  REQUIRE(bench.selection().hovered);
  const CellRef first = *bench.selection().hovered;
  bench.ui->run_frames(5);
  CHECK(bench.selection().hovered == first);
  bench.ui->click("stage/memory/floats");
  CHECK(bench.selection().pinned != cell);

  bench.ui->click("stage/memory/head/3");
  CHECK(bench.selection().head == 3);
  bench.ui->key("O");
  CHECK(bench.selection().view == StageView::one_head);
}

TEST_CASE("the copy of the concatenation is a second lane, and a float is found in both") {
  WINDOW_OR_SKIP(bench, open_memory(Step::concat));
  move_to(bench, middle(bench.ui->rect("stage/memory/lane/1"), 1, 12, 0, 4));  // the copy has token after token
  REQUIRE(bench.selection().hovered);
  CHECK(bench.selection().hovered->tensor.id == TensorId::concat);
  CHECK(bench.selection().hovered->index[1] == 4);
  move_to(bench, middle(bench.ui->rect("stage/memory/lane/0"), 1, 8, 0, 6));  // before it head after head
  CHECK(bench.selection().hovered->index[2] / 16 == 6);
  bench.ui->click("step_bar/step/3");
  CHECK(bench.ui->has("stage/memory/3"));  // k, view, transpose, transpose
  move_to(bench, middle(bench.ui->rect("stage/memory/right"), 16, 12, 2, 7));
  CHECK(bench.selection().hovered == CellRef{{TensorId::k_heads}, {0, 0, 7, 2}});
}

TEST_CASE("memory order is shown in any window, theme and size, and what is pinned stays in sight") {
  Scenario large = preset_scenario("random");
  large.attention.embed_dim = 256;
  large.attention.num_heads = 16;
  large.inputs.source = InputSource::random;
  large.inputs.query_length = 300;
  for (const auto& [wide, high] : {std::pair{1280, 720}, {640, 480}, {300, 300}, {1600, 1000}}) {
    const int width = wide;
    WINDOW_OR_SKIP(bench, open_memory(Step::split_heads, width, high, large));
    bench.ui->rasterise(false);
    bench.selection().pinned = CellRef{{TensorId::q_heads}, {0, 15, 299, 15}};
    bench.selection().head = 15;
    for (int step = 0; step < step_count; ++step) {
      bench.selection().step = static_cast<Step>(step);
      bench.ui->run_frames(2).key("T");
    }
    bench.selection().step = Step::split_heads;
    bench.ui->run_frames(2);
    if (!bench.ui->has("stage/memory/right")) continue;
    const UiRect right = bench.ui->rect("stage/memory/right");
    bench.ui->move_to(right.min.x + 2, right.max.y - 2);
    REQUIRE(bench.selection().hovered);
    CAPTURE(width);
    CHECK(bench.selection().hovered->tensor.id == TensorId::q_heads);
    CHECK(bench.selection().hovered->index == std::vector<Index>{0, 15, 299, 0});
    REQUIRE(bench.selection().pinned);
    CHECK(bench.selection().pinned->index == std::vector<Index>{0, 15, 299, 15});
  }
}
