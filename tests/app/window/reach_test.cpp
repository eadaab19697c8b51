// What the stage and the graph light: the way of a number back to the inputs and on to the output, an axis by
// its letter, a tensor by its name.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "app/content/cell_terms.h"
#include "app/content/stage_content.h"
#include "app/content/stage_matrix.h"
#include "app/panels/named_text.h"
#include "core/attention/cell_reach.h"
#include "tests/app/stage/stage_trace.h"
#include "tests/app/window_bench.h"

using namespace headwise;
using Id = TensorId;

namespace {

// From a cell back to everything it was made from, term by term: independent of boxes.
std::set<std::pair<int, Index>> cells_behind(const Trace& trace, const CellRef& start) {
  std::set<std::pair<int, Index>> seen;
  std::vector<CellRef> open{start};
  while (!open.empty()) {
    const CellRef cell = open.back();
    open.pop_back();
    for (const Term& term : cell_provenance(trace, cell.tensor, cell.index).terms) {
      for (const CellRef& factor : term.factors) {
        const Index flat = trace.tensor(factor.tensor)->shape().offset(factor.index);
        if (seen.insert({static_cast<int>(factor.tensor.id), flat}).second) open.push_back(factor);
      }
    }
  }
  return seen;
}

const CellRef score{{Id::scores}, {0, 0, 6, 3}};

WindowBench open_on_score(Step step = Step::scores) {
  WindowBench bench = open_window(1600, 1000);
  if (!bench.ui) return bench;
  Selection& selection = bench.selection();
  selection.step = step;
  selection.pinned = score;
  bench.ui->run_frames(3);
  return bench;
}

}  // namespace

TEST_CASE("at every step the stage lights exactly the cells that a number was made from, all the way back") {
  const TracedScenario given = traced({"attention.num_kv_heads=1", "mask.is_causal=true", "inputs.batch=2"});
  const Trace& trace = *given.trace;
  for (const CellRef& cell : {CellRef{{Id::output}, {1, 2, 5}}, CellRef{{Id::head_output}, {0, 2, 3, 1}},
                              CellRef{{Id::attn_weights}, {1, 1, 3, 0}}, CellRef{{Id::k}, {0, 1, 2}}}) {
    const auto behind = cells_behind(trace, cell);
    const CellReach reach = cell_reach(trace, cell.tensor, cell.index);
    Index lit_cells = 0;
    for (const StepEntry& entry : step_entries()) {
      Selection place;
      place.step = entry.step;
      place.batch = cell.index[0];
      place.head = 1;
      place.pinned = cell;
      place.all_the_way = true;
      ValueRanges ranges;
      const auto marks = stage_marks(trace, place, nullptr, &reach);
      const StageContent content = stage_content(trace, given.inputs.labels, place, Theme::dark, ranges);
      for (const StagePart* part : parts_of(content)) {
        std::set<std::pair<int, Index>> lit, named;
        for (Index row = 0; row < part->matrix.view.rows; ++row) {
          for (Index col = 0; col < part->matrix.view.cols; ++col) {
            const CellRef drawn = cell_at(part->matrix, row, col);
            const std::pair<int, Index> key{static_cast<int>(drawn.tensor.id),
                                            trace.tensor(drawn.tensor)->shape().offset(drawn.index)};
            if (behind.contains(key)) named.insert(key);
            for (const StageMark& mark : marks) {
              const auto box = mark.kind == MarkKind::source ? drawn_box(part->matrix, mark.box) : std::nullopt;
              const bool inside = box && row >= box->row_begin && row < box->row_end &&
                                  col >= box->col_begin && col < box->col_end;
              if (inside) lit.insert(key);
            }
          }
        }
        CAPTURE(entry.name);
        CAPTURE(matrix_name(part->matrix));
        CHECK((lit == named));
        lit_cells += static_cast<Index>(lit.size());
      }
    }
    CHECK(lit_cells > 20);
  }
}

TEST_CASE("W, or the switch in the inspector, lights all the way, and again only the next tensors") {
  WINDOW_OR_SKIP(bench, open_on_score());
  bench.ui->run_until_still();
  const Image next = bench.ui->pixels();
  const std::size_t links = static_cast<std::size_t>(std::ranges::count_if(
      bench.ui->names(), [](const auto& name) { return name.starts_with("inspector/from/"); }));
  CHECK(links == 2);
  bench.ui->key("W");
  CHECK(bench.selection().all_the_way);
  CHECK(bench.ui->becomes_still());
  CHECK(bench.ui->pixels().rgba != next.rgba);
  CHECK(bench.ui->has("inspector/from/6"));  // q_heads, k_heads, q, k, query and two parameters
  bench.ui->click("inspector/from/0");
  CHECK(bench.selection().tensor == Id::query);
  bench.ui->key("Backspace");
  const UiRect way = bench.ui->rect("inspector/way");
  bench.ui->click(way.min.x + 8, 0.5 * (way.min.y + way.max.y));
  CHECK_FALSE(bench.selection().all_the_way);
}

TEST_CASE("beside a pinned cell the one under the mouse is told all the way too") {
  WINDOW_OR_SKIP(bench, open_on_score());
  bench.ui->key("W").run_until_still();
  REQUIRE(bench.selection().pinned == score);
  const UiRect map = bench.ui->rect("stage/result");
  bench.ui->move_to(map.min.x + 5, map.min.y + 5).run_until_still();
  REQUIRE(bench.selection().hovered);
  CHECK_FALSE(bench.selection().hovered == score);
  CHECK(bench.ui->has("inspector/from/6"));
}

TEST_CASE("how much of a tensor is on the way is told in a few words") {
  const TracedScenario given = traced();
  const Trace& trace = *given.trace;
  const CellReach reach = cell_reach(trace, {Id::scores}, {0, 1, 2, 3});
  CHECK(reach_words(trace, reach.back, {Id::q_heads}) == "head 1 row 2");
  CHECK(reach_words(trace, reach.back, {Id::query}) == "rows 2–3");
  CHECK(reach_words(trace, reach.forward, {Id::scaled_scores}) == "1 cell");
  CHECK(reach_words(trace, reach.forward, {Id::output}) == "row 2");
  CHECK(reach_words(trace, reach.back, {Id::v}).empty());
  CHECK(reach_words(trace, reach.back, {Id::q_heads}, true) == "row 2");
  CHECK(reach_words(trace, cell_reach(trace, {Id::scores}, {0, 1, 0, 3}).back, {Id::query}) == "rows 0, 3");
  const CellReach output = cell_reach(trace, {Id::output}, {0, 0, 0});
  CHECK(reach_words(trace, output.back, {Id::v}) == "all");
}

TEST_CASE("a letter under the mouse lights its axis on the stage and in the graph, and lets go of it again") {
  WINDOW_OR_SKIP(bench, open_on_score());
  bench.ui->run_until_still();
  const Image before = bench.ui->pixels();
  for (const char* letter : {"L", "D", "H", "E", "S", "N"}) {
    CAPTURE(letter);
    bench.ui->move_to(std::string("letter/") + letter);
    CHECK(bench.state().view.pointed.axis == letter);
    CHECK(bench.ui->becomes_still());
    CHECK(bench.ui->pixels().rgba != before.rgba);
  }
  bench.ui->move_to(2, 2);
  CHECK(bench.state().view.pointed.axis.empty());
  CHECK(bench.ui->becomes_still());
  CHECK(bench.ui->pixels().rgba == before.rgba);
}

TEST_CASE("a node of the graph lights its tensor wherever it stands on the stage") {
  WINDOW_OR_SKIP(bench, open_on_score());
  bench.ui->move_to("graph/k_heads");
  const std::vector<BoxRef>& boxes = bench.state().view.pointed.boxes;
  REQUIRE(boxes.size() == 1);
  CHECK(boxes[0].tensor == TensorName{Id::k_heads});
  CHECK(boxes[0].begin == std::vector<Index>{0, 0, 0, 0});
  CHECK(boxes[0].end == bench.trace().tensors.k_heads->shape().sizes());
  const auto marks = stage_marks(bench.trace(), bench.selection(), &bench.state().view.pointed);
  CHECK(std::ranges::count(marks, MarkKind::pointed, &StageMark::kind) == 1);
}

TEST_CASE("letters are found in shapes, and in no other words") {
  const auto letters = [](std::string_view text) {
    std::vector<std::string> found;
    for (const LetterRun& run : shape_letters(text)) found.push_back(run.letter);
    return found;
  };
  using Words = std::vector<std::string>;
  CHECK(letters("(N,H,L,S′) ← (N,L,H·Dv)") == Words{"N", "H", "L", "S′", "N", "L", "H", "Dv"});
  CHECK(letters("L×H·D 12×128") == Words{"L", "H", "D"});
  CHECK(letters("HEAD Delta in_E (1,8,12)").empty());
  CHECK(axis_has_letter("H·D", "D"));
  CHECK(axis_has_letter("S′", "S"));
  CHECK_FALSE(axis_has_letter("G·Dv", "D"));
  CHECK_FALSE(axis_has_letter("E", ""));
}

TEST_CASE("symbols of formulas are known as the tensors that they stand for") {
  const TracedScenario given = traced();
  CHECK(tensor_of_symbol(*given.trace, "Qₕ") == TensorName{Id::q_heads});
  CHECK(tensor_of_symbol(*given.trace, "Kₕᵀ") == TensorName{Id::k_heads});
  CHECK(tensor_of_symbol(*given.trace, "exp(maskedₕ") == TensorName{Id::masked_scores});
  CHECK(tensor_of_symbol(*given.trace, "concat") == TensorName{Id::concat});
  CHECK_FALSE(tensor_of_symbol(*given.trace, "√D"));
  CHECK_FALSE(tensor_of_symbol(*given.trace, ""));
  CHECK_FALSE(tensor_of_symbol(*given.trace, "residual_output"));
}

TEST_CASE("a mouse that lies still does not look away from what a page, a key or a link has pinned") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  WindowState& state = bench.state();
  state.view.selection.step = Step::scores;
  bench.ui->run_frames(3).move_to("stage/result");
  REQUIRE(bench.selection().hovered);
  const CellRef under_mouse = *bench.selection().hovered;
  REQUIRE(under_mouse != score);
  state.view.selection.pinned = score;
  state.view.selection.all_the_way = true;
  bench.ui->run_frames(3);
  CHECK_FALSE(bench.selection().hovered);
  bench.ui->key("Right");  // with the pin on to the next step
  bench.ui->run_until_still();
  CHECK_FALSE(bench.selection().hovered);
  bench.ui->key("Left").run_until_still();
  const UiRect map = bench.ui->rect("stage/result");
  const double x = 0.5 * (map.min.x + map.max.x), y = 0.5 * (map.min.y + map.max.y);
  bench.ui->move_to(x + 1, y);
  CHECK(bench.selection().hovered == under_mouse);
  CHECK(bench.selection().pinned == score);
  // A press needs no movement.
  state.view.selection.step = Step::scale;
  bench.ui->run_frames(3);
  CHECK_FALSE(bench.selection().hovered);
  bench.ui->click(x + 1, y);
  CHECK(bench.selection().pinned == bench.selection().hovered);
  CHECK(bench.selection().pinned != score);
}
