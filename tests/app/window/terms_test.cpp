// Asking a number where it came from: terms that are clicked, all of them, and the way back.
#include <doctest/doctest.h>

#include <cmath>

#include "app/content/cell_terms.h"
#include "core/attention/cell_provenance.h"
#include "tests/app/window_bench.h"

using namespace headwise;
using Id = TensorId;

namespace {

const CellRef cell_of_scores{{Id::scores}, {0, 0, 6, 3}};

WindowBench open_on(const CellRef& cell, Step step, int width = 1600, int height = 1000) {
  WindowBench bench = open_window(width, height);
  if (!bench.ui) return bench;
  Selection& selection = bench.selection();
  selection.step = step;
  selection.pinned = cell;
  bench.ui->run_frames(3);
  return bench;
}

CellTerms terms_of(const WindowBench& bench, const CellRef& cell, std::size_t shown) {
  return cell_terms(bench.trace(), bench.session().inputs().labels,
                    cell_provenance(bench.trace(), cell.tensor, cell.index), shown);
}

}  // namespace

TEST_CASE("a click on a term goes to the number that it begins with, Backspace comes back") {
  WINDOW_OR_SKIP(bench, open_on(cell_of_scores, Step::scores));
  const CellTerms terms = terms_of(bench, cell_of_scores, 6);
  REQUIRE(terms.largest.size() == 6);
  bench.ui->click("inspector/term/0");
  // In the middle of the line stands a factor or a sign: one of the two numbers of this term.
  REQUIRE(bench.selection().pinned.has_value());
  const CellRef landed = *bench.selection().pinned;
  CHECK((landed == terms.largest[0].factors[0] || landed == terms.largest[0].factors[1]));
  CHECK(bench.selection().step == Step::split_heads);
  CHECK(bench.selection().tensor == landed.tensor.id);
  bench.ui->key("Backspace");
  CHECK(bench.selection().pinned == cell_of_scores);
  CHECK(bench.selection().step == Step::scores);
  bench.ui->key("Backspace");  // there is nothing before it
  CHECK(bench.selection().pinned == cell_of_scores);
}

TEST_CASE("each factor of a term leads to its own number, and the name of the term to the first") {
  WINDOW_OR_SKIP(bench, open_on(cell_of_scores, Step::scores));
  const CellTerms terms = terms_of(bench, cell_of_scores, 6);
  const UiRect line = bench.ui->rect("inspector/term/2");
  const double y = 0.5 * (line.min.y + line.max.y);
  bench.ui->click(line.min.x + 8, y);
  CHECK(bench.selection().pinned == terms.largest[2].factors[0]);
  bench.ui->key("Backspace");
  bool second = false;
  for (double x = line.min.x + 4; x < line.max.x && !second; x += 12) {
    bench.ui->click(x, y);
    second = bench.selection().pinned == terms.largest[2].factors[1];
    bench.ui->key("Backspace");
    REQUIRE(bench.selection().pinned == cell_of_scores);
  }
  CHECK(second);
}

TEST_CASE("a chain of clicks leads from the output to a parameter, and Alt+Left back step by step") {
  const CellRef output{{Id::output}, {0, 8, 3}};
  WINDOW_OR_SKIP(bench, open_on(output, Step::output));
  bench.ui->click("inspector/from/0");  // the row of concat: no cell, the pin stays
  CHECK(bench.selection().pinned == output);
  CHECK(bench.selection().tensor == Id::concat);
  bench.ui->click("inspector/term/0");
  REQUIRE(bench.selection().pinned != output);
  const CellRef first = *bench.selection().pinned;
  bench.ui->click("inspector/from/0");  // a column of concat is copied from one head
  REQUIRE(bench.selection().pinned != first);
  CHECK(bench.state().view.trail.size() == 3);
  bench.ui->key("Alt+Left");
  CHECK(bench.selection().pinned == first);
  bench.ui->click("inspector/back");
  CHECK(bench.selection().pinned == output);
  CHECK(bench.selection().tensor == Id::concat);
  bench.ui->key("Alt+Left");
  CHECK(bench.selection().step == Step::output);
  CHECK(bench.state().view.trail.empty());
}

TEST_CASE("letting go of the pin forgets the way") {
  WINDOW_OR_SKIP(bench, open_on(cell_of_scores, Step::scores));
  bench.ui->click("inspector/term/0");
  CHECK_FALSE(bench.state().view.trail.empty());
  bench.ui->key("Escape");
  CHECK_FALSE(bench.selection().pinned.has_value());
  CHECK(bench.state().view.trail.empty());
  bench.ui->key("Backspace");
  CHECK_FALSE(bench.selection().pinned.has_value());
}

TEST_CASE("all terms of a number can be opened, scrolled and closed") {
  const CellRef output{{Id::output}, {0, 8, 3}};
  WINDOW_OR_SKIP(bench, open_on(output, Step::output));
  const std::size_t all = cell_provenance(bench.trace(), output.tensor, output.index).terms.size();
  REQUIRE(all > 100);
  CHECK_FALSE(bench.ui->has("inspector/term/6"));
  bench.ui->click("inspector/more_terms");
  CHECK(bench.ui->has("inspector/term/6"));
  CHECK_FALSE(bench.ui->has("inspector/term/40"));
  bench.ui->move_to("inspector/terms");
  for (int i = 0; i < 60; ++i) bench.ui->wheel(-3);
  CHECK(bench.ui->has("inspector/term/" + std::to_string(all - 1)));
  bench.ui->click("inspector/more_terms");
  CHECK_FALSE(bench.ui->has("inspector/term/6"));
}

TEST_CASE("the term under the mouse lights its numbers on the stage") {
  WINDOW_OR_SKIP(bench, open_on(cell_of_scores, Step::scores));
  const CellTerms terms = terms_of(bench, cell_of_scores, 6);
  bench.ui->run_until_still();
  const Image before = bench.ui->pixels();
  bench.ui->move_to("inspector/term/1");
  const std::vector<BoxRef>& boxes = bench.state().view.pointed.boxes;
  REQUIRE(boxes.size() == 2);
  CHECK(boxes[0].tensor == terms.largest[1].factors[0].tensor);
  CHECK(boxes[0].begin == terms.largest[1].factors[0].index);
  CHECK(boxes[1].begin == terms.largest[1].factors[1].index);
  CHECK(bench.ui->pixels().rgba != before.rgba);
  CHECK(bench.ui->becomes_still());
  bench.ui->move_to(2, 2);
  CHECK(bench.state().view.pointed == Pointed{});
}

TEST_CASE("terms are reached by keyboard too") {
  WINDOW_OR_SKIP(bench, open_on(cell_of_scores, Step::scores));
  bool reached = false;
  for (int i = 0; i < 120 && !reached; ++i) {
    bench.ui->key("Tab");
    reached = !bench.state().view.pointed.boxes.empty();
  }
  REQUIRE(reached);
  bench.ui->key("Enter");
  CHECK(bench.selection().pinned != cell_of_scores);
}
