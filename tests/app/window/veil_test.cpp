// What a page hides while it asks, and answers that are given on the stage.
#include <doctest/doctest.h>

#include "app/window/frame_snapshot.h"
#include "app/window/window_pictures.h"
#include "tests/app/window/answers_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

constexpr const char* veiled = R"({ "headwise_playlist": 1, "pages": [
  { "scenario": "hand_made", "step": "softmax", "pin": {"tensor": "attn_weights", "index": [0, 0, 8, 7]}, "veil": true,
    "ask": "How much?", "caption": "{attn_weights[0,0,8,7]}.", "answer": {"kind": "number", "is": "attn_weights[0,0,8,7]"} } ] })";

WindowBench at_veiled_page(const TemporaryFolder& folder) {
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return bench;
  bench.state().view.settings.reduce_motion = true;
  drop(bench, lesson_file(folder, veiled));
  bench.ui->run_until_still();
  return bench;
}

}  // namespace

TEST_CASE("a veil leaves the operands in sight, nothing of the result: not in any view nor at a later step") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, at_veiled_page(folder));
  UiDriver& ui = *bench.ui;
  CHECK(bench.selection().step == Step::softmax);
  ui.check_shown({"stage/veil", "stage/left"});
  CHECK_FALSE(ui.has("heads/thumbnail/0"));
  CHECK_FALSE(bench.selection().pinned);
  const UiRect left = ui.rect("stage/left");
  CHECK(ui.rect("stage/veil").min.x > left.max.x);
  ui.move_to("stage/veil");
  CHECK_FALSE(bench.selection().hovered);
  ui.click("stage/veil");
  CHECK_FALSE(bench.selection().pinned);
  ui.move_to("stage/left");
  CHECK(bench.selection().hovered);

  WindowState& state = bench.state();
  const auto whole = [&] {
    ui.run_until_still();
    CHECK(ui.has("stage/veil"));
    ui.check_absent({"stage/left", "stage/result", "stage/map/0", "heads/thumbnail/0"});
  };
  for (const StageView view :
       {StageView::all_heads, StageView::head_rows, StageView::tokens, StageView::elementwise,
        StageView::query_key_plane, StageView::gradients, StageView::compare, StageView::memory}) {
    CAPTURE(static_cast<int>(view));
    state.view.selection.view = view;
    whole();
  }
  state.view.selection.view = StageView::one_head;
  for (const Step step : {Step::weighted_sum, Step::concat, Step::output}) {
    state.view.selection.step = step;
    whole();
  }
  state.view.selection.step = Step::scores;
  ui.run_until_still();
  CHECK_FALSE(ui.has("stage/veil"));
  CHECK(ui.has("stage/result"));
}

TEST_CASE("a cell behind the veil is told by no panel, whatever led to it, and comes with the answer") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, at_veiled_page(folder));
  WindowState& state = bench.state();
  for (const TensorId hidden : {TensorId::attn_weights, TensorId::head_output, TensorId::output}) {
    state.view.selection.pinned = CellRef{{hidden}, {0, 0, 8, 7}};
    CHECK_FALSE(FrameSnapshot(state).selection.pinned);
  }
  for (const TensorId open : {TensorId::masked_scores, TensorId::out_proj_weight, TensorId::v_heads}) {
    state.view.selection.pinned = CellRef{{open}, {0, 0}};
    CHECK(FrameSnapshot(state).selection.pinned);
  }
  state.view.selection.pinned.reset();
  bench.ui->click("caption/number").type("0.9").key("Enter").run_until_still();
  CHECK_FALSE(bench.ui->has("stage/veil"));
  bench.ui->check_shown({"stage/result", "heads/thumbnail/0"});
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 8, 7}});
}

TEST_CASE("what a question hides is not copied, and a word says why") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, at_veiled_page(folder));
  WindowState& state = bench.state();
  const auto told = [&] { return state.view.notices.notices.back().text; };
  const std::string hidden = "The page hides this map until its question is answered.";
  copy_value(state);  // the mouse is nowhere
  CHECK(told() == hidden);
  state.view.selection.hovered = CellRef{{TensorId::attn_weights}, {0, 0, 3, 2}};
  copy_value(state);
  CHECK(told() == hidden);
  CHECK(state.clipboard.empty());
  state.view.selection.hovered = CellRef{{TensorId::masked_scores}, {0, 0, 3, 2}};
  copy_value(state);
  CHECK_CONTAINS(told(), "Copied ");
}

TEST_CASE("a page that asks for a mask hides the scores that were masked, at a later step too") {
  PlaylistPage page;
  page.ask = "Paint it.";
  page.veil = true;
  page.answer = PageAnswer{};
  page.answer->kind = AnswerKind::mask;
  for (const Step step : {Step::scores, Step::scale, Step::mask, Step::softmax}) {
    page.step = step;
    const Veil veil = veil_of_question(page).value();
    CHECK(veil.hides({TensorId::mask_bias}));
    CHECK(veil.hides({TensorId::masked_scores}));
    CHECK(veil.hides({TensorId::attn_weights}));
    CHECK(veil.hides({TensorId::scores}) == (step == Step::scores));
  }
}

TEST_CASE("in a hall the operands stay while a page asks, and the map fills the screen with the answer") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, at_veiled_page(folder));
  bench.ui->key("F11").run_until_still();
  bench.ui->check_shown({"stage/veil", "stage/left"});
  bench.ui->key("PageDown").run_until_still();
  CHECK_FALSE(bench.ui->has("stage/veil"));
  CHECK(bench.ui->has("stage/result"));
  CHECK_FALSE(bench.ui->has("stage/left"));
}

TEST_CASE("whether a page hides its result is chosen where its words are written") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, at_veiled_page(folder));
  const auto page = [&]() -> const PlaylistPage& { return *bench.walk().shown(); };
  bench.ui->click("caption/edit").run_until_still();
  const UiRect panel = bench.ui->rect("panel/caption");
  CHECK(bench.ui->rect("caption/text").max.y <= panel.max.y);
  bench.ui->click("caption/veil");
  CHECK_FALSE(page().veil);
  bench.ui->click("caption/veil");
  CHECK(page().veil);
  CHECK(bench.walk().changed);
  const Playlist& playlist = bench.walk().playlist;
  CHECK(playlist_from_json(playlist_to_json(playlist), "again") == playlist);
}

namespace {

constexpr const char* pointing = R"({ "headwise_playlist": 1, "pages": [
  { "scenario": "hand_made", "step": "scores", "veil": true, "ask": "Where is row 8 brightest?", "caption": "There.",
    "answer": {"kind": "cell", "tensor": "scores", "row": "8", "column": "argmax scores[0,0,8,:]"} },
  { "step": "softmax", "view": "all_heads", "head": 5, "ask": "Which head looks back?", "caption": "That one.",
    "answer": {"kind": "head", "is": "argmax attn_weights[0,:,8,7]"} },
  { "step": "split_heads", "view": "one_head", "ask": "Which shape?", "caption": "{shape q_heads}", "ask_step": "project",
    "answer": {"kind": "shape", "is": "shape q_heads"} } ] })";

}  // namespace

TEST_CASE("a cell of the veiled map is pointed at, and lights up without telling its number") {
  BENCH_OR_SKIP(Asked, asked, pointing, 0);
  UiDriver& ui = asked.ui().rasterise(true).run_frames(1);
  const UiRect map = ui.rect("stage/veil");
  const float cell_width = (map.max.x - map.min.x) / 12, cell_height = (map.max.y - map.min.y) / 12;
  const double x = map.min.x + 6.5f * cell_width, y = map.min.y + 8.5f * cell_height;
  const int edge = static_cast<int>(map.min.x + 6 * cell_width + 1);
  const Rgba8 before = ui.pixel(edge, static_cast<int>(y));
  const auto seen = [&](const char* panel) {
    const UiRect rect = ui.rect(panel);
    const Image picture = ui.pixels();
    std::vector<std::uint8_t> pixels;
    const auto from = static_cast<std::ptrdiff_t>(rect.min.x), to = static_cast<std::ptrdiff_t>(rect.max.x);
    for (auto row = static_cast<std::ptrdiff_t>(rect.min.y); row < static_cast<std::ptrdiff_t>(rect.max.y);
         ++row) {
      const auto line = picture.rgba.begin() + 4 * row * picture.width;
      pixels.insert(pixels.end(), line + 4 * from, line + 4 * to);
    }
    return pixels;
  };
  const std::vector<std::uint8_t> inspector = seen("panel/inspector"), status = seen("panel/status");
  ui.move_to(x, y).run_frames(2);
  CHECK((seen("panel/inspector") == inspector));
  CHECK((seen("panel/status") == status));
  CHECK_FALSE(ui.pixel(edge, static_cast<int>(y)) == before);
  CHECK_FALSE(FrameSnapshot(asked.state()).selection.hovered);
  ui.click(x, y).run_frames(3);
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()) ==
        "You pointed at “it” (row 8), “street” (column 6); it is “it” (row 8), “because” (column 7).");
  CHECK_FALSE(ui.has("stage/veil"));
}

TEST_CASE("a cell is pointed at with the keys alone") {
  BENCH_OR_SKIP(Asked, asked, pointing, 0);
  UiDriver& ui = asked.ui();
  ui.key("Enter");  // selects the first cell
  for (int down = 0; down < 8; ++down) ui.key("Down");
  for (int right = 0; right < 7; ++right) ui.key("Right");
  CHECK(asked.walk().asking());
  ui.key("Enter").run_frames(2);
  CHECK(answer_verdict(asked.walk()) == "You pointed at “it” (row 8), “because” (column 7): right.");
}

TEST_CASE("a head is answered by its button, its digit or on the stage") {
  for (const char* way : {"button", "digit", "stage"}) {
    CAPTURE(way);
    BENCH_OR_SKIP(Asked, asked, pointing, 1);
    UiDriver& ui = asked.ui();
    REQUIRE(asked.walk().asking());
    if (way[0] == 'b') ui.click("caption/head/0");
    if (way[0] == 'd') ui.key("0");
    if (way[0] == 's') ui.click("stage/map/3");
    ui.run_frames(3);
    CHECK_FALSE(asked.walk().asking());
    CHECK(answer_verdict(asked.walk()) ==
          (way[0] == 's' ? "You chose head 3; it is head 0." : "You chose head 0: right."));
  }
}

TEST_CASE("a shape is typed, in sizes or in letters") {
  BENCH_OR_SKIP(Asked, asked, pointing, 2);
  UiDriver& ui = asked.ui();
  ui.click("caption/number").type("1, x").key("Enter");
  CHECK(asked.walk().given.unreadable);
  for (int i = 0; i < 6; ++i) ui.key("Backspace");
  ui.type("N L H D").key("Enter").run_frames(2);
  CHECK(answer_verdict(asked.walk()) ==
        "You said (1,12,8,16); it is (1,8,12,16). The sizes are right, their order is not.");
}

TEST_CASE("the pinned query is followed from step to step, but not to where a page asks") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  UiDriver& ui = *bench.ui;
  bench.state().view.settings.reduce_motion = true;
  Selection& selection = bench.selection();
  selection.step = Step::softmax;
  ui.run_until_still();
  ui.check_absent({"followed/attn_weights", "inspector/following"});
  selection.pinned = CellRef{{TensorId::attn_weights}, {0, 0, 3, 2}};
  ui.run_until_still();
  const UiRect map = ui.rect("stage/result"), row = ui.rect("followed/attn_weights");
  CHECK(row.min.y > map.min.y);
  CHECK(row.max.y < map.max.y);
  CHECK(ui.has("inspector/following"));
  for (const auto& [step, name] : {std::pair{Step::inputs, "query"},
                                   {Step::scores, "q_heads"},
                                   {Step::concat, "concat"},
                                   {Step::output, "output"}}) {
    selection.step = step;
    ui.run_until_still();
    CAPTURE(name);
    ui.check_shown({std::string("followed/") + name, "inspector/following"});
  }
  WINDOW_OR_SKIP(asked, at_veiled_page(folder));
  asked.window->state().view.selection.pinned = CellRef{{TensorId::query}, {0, 8, 1}};
  asked.ui->run_until_still();
  CHECK_FALSE(asked.ui->has("inspector/following"));
}
