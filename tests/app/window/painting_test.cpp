// The mask painted with the mouse, a number set by hand, and a pattern chosen.
#include <doctest/doctest.h>

#include <imgui.h>

#include <cmath>
#include <string>

#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

bool blocked(const WindowBench& bench, Index query, Index key) {
  const TensorPtr mask = bench.trace().tensors.mask_bias;
  return mask && mask->at({0, 0, query, key}) == -INFINITY;
}

}  // namespace

TEST_CASE("a stroke over the map blocks every pair that it meets, and is one step of undo") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/5").run_frames(70).click("stage/brush/paint");
  const auto pair = [&](Index query, Index key) { return middle_of_cell(bench, "stage/result", query, key); };
  bench.ui->drag(pair(4, 2), pair(4, 7), 20);
  for (Index key = 2; key <= 7; ++key) CHECK(blocked(bench, 4, key));
  CHECK_FALSE(blocked(bench, 4, 8));
  CHECK_FALSE(blocked(bench, 5, 4));
  CHECK_FALSE(bench.selection().pinned);
  bench.ui->run_frames(5);
  // A stroke that begins on a blocked pair frees.
  bench.ui->click(pair(4, 3));
  CHECK_FALSE(blocked(bench, 4, 3));
  bench.ui->key("Ctrl+Z");
  CHECK(blocked(bench, 4, 3));
  bench.ui->key("Ctrl+Z");
  CHECK_FALSE(bench.trace().tensors.mask_bias);
  CHECK(bench.scenario().edits.empty());
}

TEST_CASE("a stroke too fast for the frames leaves no gap") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/5").run_frames(70).click("stage/brush/paint");
  bench.ui->drag(middle_of_cell(bench, "stage/result", 2, 1), middle_of_cell(bench, "stage/result", 10, 9), 2);
  for (Index i = 1; i <= 9; ++i) CHECK(blocked(bench, i + 1, i));
  CHECK_FALSE(blocked(bench, 2, 2));
  bench.ui->key("Ctrl+Z");
  CHECK_FALSE(bench.trace().tensors.mask_bias);
}

TEST_CASE("a number of the input is set by hand, the output follows, and it can be forgotten") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1700));
  bench.ui->click(bench.ui->at("stage/result", 0.01f, 0.01f));
  REQUIRE(bench.selection().pinned);
  CHECK(bench.selection().pinned->tensor.id == TensorId::query);
  const double before = bench.output(0);
  bench.ui->click("inspector/set").key("Ctrl+A").type("3.5");
  CHECK(bench.trace().tensors.query->at(bench.selection().pinned->index) == 3.5);
  CHECK(bench.output(0) != before);
  REQUIRE(bench.scenario().edits.size() == 1);
  bench.ui->key("Escape");
  bench.ui->click(bench.ui->right_end("setup/edits"));
  CHECK(bench.scenario().edits.empty());
  CHECK(bench.output(0) == before);
}

TEST_CASE("a pattern is chosen from a list") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1400));
  bench.ui->click(bench.ui->right_end("setup/preset")).click("setup/preset/document:0,6");
  REQUIRE(bench.scenario().mask.preset);
  CHECK(*bench.scenario().mask.preset == "document:0,6");
  CHECK(bench.session().error() == "");
  CHECK(bench.trace().tensors.mask_bias);
}

TEST_CASE("a box is what lies between its corners, follows the mouse back, and is one step of undo") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->click("step_bar/step/5").run_frames(70).click("stage/brush/box");
  const auto pair = [&](Index query, Index key) { return middle_of_cell(bench, "stage/result", query, key); };
  bench.ui->move_to(pair(8, 9)).push(MouseButtonChanged{0, true}).run_frames(2);
  bench.ui->move_to(pair(1, 2));  // up and to the left, too far
  bench.ui->move_to(pair(5, 6)).push(MouseButtonChanged{0, false}).run_frames(3);
  for (Index query = 0; query < 12; ++query) {
    for (Index key = 0; key < 12; ++key) {
      CAPTURE(query);
      CAPTURE(key);
      CHECK(blocked(bench, query, key) == (query >= 5 && query <= 8 && key >= 6 && key <= 9));
    }
  }
  bench.ui->key("Ctrl+Z");
  CHECK_FALSE(bench.trace().tensors.mask_bias);
}

TEST_CASE("ALiBi and a finite fill are chosen in the setup, and undo takes each back") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1700));
  bench.ui->click("setup/alibi/on");
  CHECK(bench.scenario().mask.alibi);
  REQUIRE(bench.trace().tensors.mask_bias);
  CHECK(bench.trace().tensors.mask_bias->at({0, 0, 5, 2}) == doctest::Approx(-1.5));  // 2^−1 · 3
  bench.ui->key("C").click("setup/fill").type("-7");
  REQUIRE(bench.scenario().mask.value);
  CHECK(bench.trace().tensors.masked_scores->at({0, 0, 2, 5}) == -7.0);
  bench.ui->key("Escape").key("Ctrl+Z");
  CHECK_FALSE(bench.scenario().mask.value);
  bench.ui->key("Ctrl+Z").key("Ctrl+Z");
  CHECK_FALSE(bench.scenario().mask.alibi);
  CHECK_FALSE(bench.trace().tensors.mask_bias);
}

TEST_CASE("a mask is shown and copied as booleans in either convention, and no number changes") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1700));
  const auto copied = [&] {
    bench.ui->click("menu/Edit").click("menu/Copy mask as booleans");
    const char* text = ImGui::GetClipboardText();
    return std::string(text ? text : "");
  };
  bench.ui->click("step_bar/step/5").key("C").run_frames(70);
  const TensorPtr output = bench.trace().tensors.output;
  bench.ui->move_to("panel/graph");
  const Image bias = bench.ui->pixels();
  bench.ui->click("setup/mask_convention/True blocks").move_to("panel/graph");
  const Image blocks = bench.ui->pixels();
  CHECK(blocks.rgba != bias.rgba);
  CHECK(copied().starts_with("np.array([[False, True, True,"));
  bench.ui->click("setup/mask_convention/True keeps").move_to("panel/graph");
  CHECK(bench.ui->pixels().rgba != blocks.rgba);
  CHECK(copied().starts_with("np.array([[True, False, False,"));
  CHECK(bench.trace().tensors.output == output);
  bench.ui->click("setup/alibi/on");
  ImGui::SetClipboardText("as before");
  CHECK(copied() == "as before");  // floats are no booleans, and that is said
}
