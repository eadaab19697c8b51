// Questions that take answers: given with the keys or the mouse alone, then held beside the result.
#include <doctest/doctest.h>

#include <algorithm>

#include "app/window/looked_at.h"
#include "app/window/page_answers.h"
#include "core/playlist/lessons.h"
#include "tests/app/window/playlist_bench.h"

using namespace headwise;

namespace {

constexpr const char* asking = R"({ "headwise_playlist": 1, "pages": [
  { "title": "Who", "scenario": "hand_made", "step": "softmax", "ask": "Where does '{query 8}' look?", "ask_step": "mask",
    "caption": "At '{key 7}'.", "answer": {"kind": "choice", "options": [
      {"text": "at itself", "is": "argmax attn_weights[0,0,8,:] = 8", "why": "It gives itself {attn_weights[0,0,8,8]}.",
       "see": "How much"},
      {"text": "one word back", "is": "argmax attn_weights[0,0,8,:] = 7"},
      {"text": "at the noun", "is": "argmax attn_weights[0,0,8,:] = 1", "see": "Softmax over rows, or over columns?"}]} },
  { "title": "How much", "ask": "How much?", "caption": "{attn_weights[0,0,8,7]}.",
    "answer": {"kind": "number", "is": "attn_weights[0,0,8,7]", "within": 0.02, "unit": "of 1"} } ] })";

struct Asked {
  TemporaryFolder folder;
  WindowBench bench;
  explicit Asked(int width = 1280, int height = 900) : bench(open_window(width, height)) {
    if (bench.ui) drop(bench, lesson_file(folder, asking));
  }
  PlaylistWalk& walk() { return bench.window->state().document.walk; }
  bool offers(const std::string& name) { return bench.ui->has(name); }
};

}  // namespace

TEST_CASE(
    "a digit chooses an option; the result comes, the question stays, and why it was wrong stands beside "
    "it") {
  Asked asked;
  if (!asked.bench.ui) return;
  UiDriver& ui = *asked.bench.ui;
  CHECK(asked.offers("caption/option/3"));
  CHECK_FALSE(asked.offers("caption/option/4"));
  CHECK_FALSE(asked.offers("caption/words"));
  CHECK(asked.bench.selection().step == Step::mask);
  ui.key("4");  // no option: a head, as ever
  CHECK(asked.walk().asking());
  ui.key("1");
  ui.run_until_still();
  CHECK_FALSE(asked.walk().asking());
  CHECK(asked.bench.selection().step == Step::softmax);
  CHECK(asked.walk().page == 0);
  CHECK(asked.offers("caption/ask"));
  CHECK(asked.offers("caption/verdict"));
  CHECK(answer_verdict(asked.walk())
            .starts_with("You chose 1, “at itself”; right is 2, “one word back”. It gives itself 0.0"));

  ui.click("caption/see");
  CHECK(asked.walk().page == 1);
  CHECK(asked.walk().asking());
  ui.key("PageUp");
  CHECK(answer_verdict(asked.walk()).empty());  // shown again, not answered again
  ui.key("2");
  CHECK(asked.bench.selection().head == 2);  // what digits do while nothing is asked
}

TEST_CASE("an option is chosen with the mouse, and its link leads to a page of a built-in lesson") {
  Asked asked;
  if (!asked.bench.ui) return;
  asked.bench.ui->click("caption/option/3");
  CHECK(answer_verdict(asked.walk()) == "You chose 3, “at the noun”; right is 2, “one word back”.");
  asked.bench.ui->run_frames(2);
  asked.bench.ui->click("caption/see");
  CHECK(asked.walk().shown()->title == "Softmax over rows, or over columns?");
  CHECK(asked.walk().from_program);
}

TEST_CASE("the verdict follows the numbers when the page is changed") {
  Asked asked;
  if (!asked.bench.ui) return;
  asked.bench.ui->key("2");
  CHECK(answer_verdict(asked.walk()) == "You chose 2, “one word back”: right.");
  CHECK_FALSE(asked.offers("caption/see"));
  asked.bench.ui->run_until_still();
  Scenario flat = asked.bench.scenario();
  flat.inputs.positions = false;
  asked.bench.window->state().document.session.edit(flat, "positions off", false);
  asked.bench.ui->run_frames(3);
  CHECK(answer_verdict(asked.walk()).find("As the page is now, no single option is right") != std::string::npos);
}

TEST_CASE("a number is typed without touching the mouse, and the page says how far off it was") {
  Asked asked;
  if (!asked.bench.ui) return;
  UiDriver& ui = *asked.bench.ui;
  asked.bench.window->state().view.settings.reduce_motion = true;
  ui.key("2");
  ui.key("PageDown");
  REQUIRE(asked.walk().page == 1);
  CHECK(asked.walk().asking());
  ui.key("0");
  ui.run_frames(2);
  ui.type("0.4 of it");
  ui.key("Enter");
  CHECK(asked.walk().asking());
  CHECK(asked.walk().given.unreadable);
  for (int i = 0; i < 20; ++i) ui.key("Backspace");
  ui.type("0,4");
  ui.key("Enter");
  ui.run_frames(3);
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()) == "You said 0.400; it is 0.901 of 1: 0.501 too low.");
  CHECK(asked.offers("caption/ask"));
  CHECK_FALSE(asked.offers("caption/number"));
}

TEST_CASE("a number within reach of the key is right") {
  Asked asked;
  if (!asked.bench.ui) return;
  UiDriver& ui = *asked.bench.ui;
  ui.key("PageDown");
  ui.key("PageDown");
  CHECK(answer_verdict(asked.walk()).empty());
  ui.click("caption/number");
  ui.type("90 %");
  ui.click("caption/give");
  ui.run_frames(2);
  CHECK(answer_verdict(asked.walk()) == "You said 0.900: right, it is 0.901 of 1.");
}

TEST_CASE("going on without an answer shows the result, and no verdict") {
  Asked asked;
  if (!asked.bench.ui) return;
  asked.bench.ui->key("PageDown");
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()).empty());
  asked.bench.ui->run_until_still();
  CHECK_FALSE(asked.offers("caption/verdict"));
  CHECK(asked.offers("caption/words"));
}

TEST_CASE("the panel of the words is as high after the answer as before it, and holds what it shows") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {1280, 600}}) {
    WindowBench bench = open_window(width, height);
    if (!bench.ui) return;
    bench.window->state().view.settings.reduce_motion = true;
    for (const Lesson& lesson : lessons()) {
      const Playlist& playlist = lesson_playlist(lesson.name);
      for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
        if (!playlist.pages[page].answer) continue;
        CAPTURE(width);
        CAPTURE(playlist.pages[page].title);
        start_walk(bench.window->state(), playlist, "", page);
        bench.ui->run_until_still();
        const UiRect before = bench.ui->rect("panel/caption");
        for (const char* name : {"caption/ask", "caption/answer", "caption/option/1", "caption/number"})
          if (bench.ui->has(name)) CHECK(bench.ui->rect(name).max.y <= before.max.y);
        if (playlist.pages[page].answer->chooses()) {
          // The longest verdict
          const PageWords& words = bench.window->state().document.walk.words;
          std::size_t longest = 0;
          for (std::size_t i = 0; i < words.whys.size(); ++i)
            if (words.whys[i].size() > words.whys[longest].size()) longest = i;
          bench.ui->key(std::to_string(longest + 1));
        } else if (bench.ui->has("caption/number")) {
          bench.ui->click("caption/number");
          bench.ui->type(playlist.pages[page].answer->kind == AnswerKind::shape ? "4, 3, 2, 1" : "0.4");
          bench.ui->key("Enter");
        } else {
          bench.ui->click("stage/veil");
        }
        bench.ui->run_until_still();
        REQUIRE(bench.ui->has("caption/verdict"));
        const UiRect after = bench.ui->rect("panel/caption");
        CHECK(after.min.y == before.min.y);
        for (const char* name : {"caption/verdict", "caption/words", "caption/see"})
          if (bench.ui->has(name)) CHECK(bench.ui->rect(name).max.y <= after.max.y);
      }
    }
  }
}

namespace {

constexpr const char* veiled = R"({ "headwise_playlist": 1, "pages": [
  { "scenario": "hand_made", "step": "softmax", "pin": {"tensor": "attn_weights", "index": [0, 0, 8, 7]}, "veil": true,
    "ask": "How much?", "caption": "{attn_weights[0,0,8,7]}.", "answer": {"kind": "number", "is": "attn_weights[0,0,8,7]"} } ] })";

WindowBench at_veiled_page(const TemporaryFolder& folder) {
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return bench;
  bench.window->state().view.settings.reduce_motion = true;
  drop(bench, lesson_file(folder, veiled));
  bench.ui->run_until_still();
  return bench;
}

}  // namespace

TEST_CASE(
    "a veil leaves the operands in sight, and nothing of the result: not in any view, nor at a later step") {
  const TemporaryFolder folder;
  WindowBench bench = at_veiled_page(folder);
  if (!bench.ui) return;
  UiDriver& ui = *bench.ui;
  CHECK(bench.selection().step == Step::softmax);
  CHECK(ui.has("stage/veil"));
  CHECK(ui.has("stage/left"));
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

  WindowState& state = bench.window->state();
  const auto whole = [&] {
    ui.run_until_still();
    CHECK(ui.has("stage/veil"));
    for (const char* map : {"stage/left", "stage/result", "stage/map/0", "heads/thumbnail/0"})
      CHECK_FALSE(ui.has(map));
  };
  for (const StageView view : {StageView::all_heads, StageView::tokens, StageView::elementwise,
                               StageView::gradients, StageView::compare, StageView::memory}) {
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
  WindowBench bench = at_veiled_page(folder);
  if (!bench.ui) return;
  WindowState& state = bench.window->state();
  for (const TensorId hidden : {TensorId::attn_weights, TensorId::head_output, TensorId::output}) {
    state.view.selection.pinned = CellRef{{hidden}, {0, 0, 8, 7}};
    CHECK_FALSE(LookedAt(state).selection.pinned);
  }
  for (const TensorId open : {TensorId::masked_scores, TensorId::out_proj_weight, TensorId::v_heads}) {
    state.view.selection.pinned = CellRef{{open}, {0, 0}};
    CHECK(LookedAt(state).selection.pinned);
  }
  state.view.selection.pinned.reset();
  bench.ui->click("caption/number");
  bench.ui->type("0.9");
  bench.ui->key("Enter");
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("stage/veil"));
  CHECK(bench.ui->has("stage/result"));
  CHECK(bench.ui->has("heads/thumbnail/0"));
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 8, 7}});
}

TEST_CASE("in a hall the operands stay while a page asks, and the map fills the screen with the answer") {
  const TemporaryFolder folder;
  WindowBench bench = at_veiled_page(folder);
  if (!bench.ui) return;
  bench.ui->key("F11");
  bench.ui->run_until_still();
  CHECK(bench.ui->has("stage/veil"));
  CHECK(bench.ui->has("stage/left"));
  bench.ui->key("PageDown");
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("stage/veil"));
  CHECK(bench.ui->has("stage/result"));
  CHECK_FALSE(bench.ui->has("stage/left"));
}

TEST_CASE("whether a page hides its result is chosen where its words are written") {
  const TemporaryFolder folder;
  WindowBench bench = at_veiled_page(folder);
  if (!bench.ui) return;
  const auto page = [&]() -> const PlaylistPage& { return *bench.window->state().document.walk.shown(); };
  bench.ui->click("caption/edit");
  bench.ui->run_until_still();
  const UiRect panel = bench.ui->rect("panel/caption");
  CHECK(bench.ui->rect("caption/text").max.y <= panel.max.y);
  bench.ui->click("caption/veil");
  CHECK_FALSE(page().veil);
  bench.ui->click("caption/veil");
  CHECK(page().veil);
  CHECK(bench.window->state().document.walk.changed);
  const Playlist& playlist = bench.window->state().document.walk.playlist;
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

struct Pointing : Asked {
  explicit Pointing(std::size_t page) {
    if (!bench.ui) return;
    bench.window->state().view.settings.reduce_motion = true;
    drop(bench, lesson_file(folder, pointing));
    show_page(bench.window->state(), page);
    bench.ui->run_until_still();
  }
};

}  // namespace

TEST_CASE("a cell of the veiled map is pointed at, and lights up without telling its number") {
  Pointing asked(0);
  if (!asked.bench.ui) return;
  UiDriver& ui = *asked.bench.ui;
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
  ui.move_to(x, y);
  ui.run_frames(2);
  CHECK((seen("panel/inspector") == inspector));
  CHECK((seen("panel/status") == status));
  CHECK_FALSE(ui.pixel(edge, static_cast<int>(y)) == before);
  CHECK_FALSE(LookedAt(asked.bench.window->state()).selection.hovered);
  ui.click(x, y);
  ui.run_frames(3);
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()) ==
        "You pointed at row 8, column 6; right is row 8, 'it', column 7, 'because'.");
  CHECK_FALSE(ui.has("stage/veil"));
}

TEST_CASE("a cell is pointed at with the keys alone") {
  Pointing asked(0);
  if (!asked.bench.ui) return;
  UiDriver& ui = *asked.bench.ui;
  ui.key("Enter");  // selects the first cell
  for (int down = 0; down < 8; ++down) ui.key("Down");
  for (int right = 0; right < 7; ++right) ui.key("Right");
  CHECK(asked.walk().asking());
  ui.key("Enter");
  ui.run_frames(2);
  CHECK(answer_verdict(asked.walk()) == "You pointed at row 8, column 7: right.");
}

TEST_CASE("a head is answered by its button, its digit or on the stage") {
  for (const char* way : {"button", "digit", "stage"}) {
    CAPTURE(way);
    Pointing asked(1);
    if (!asked.bench.ui) return;
    UiDriver& ui = *asked.bench.ui;
    REQUIRE(asked.walk().asking());
    if (way[0] == 'b') ui.click("caption/head/0");
    if (way[0] == 'd') ui.key("0");
    if (way[0] == 's') ui.click("stage/map/3");
    ui.run_frames(3);
    CHECK_FALSE(asked.walk().asking());
    CHECK(answer_verdict(asked.walk()) ==
          (way[0] == 's' ? "You chose head 3; right is head 0." : "You chose head 0: right."));
  }
}

TEST_CASE("a shape is typed, in sizes or in letters") {
  Pointing asked(2);
  if (!asked.bench.ui) return;
  UiDriver& ui = *asked.bench.ui;
  ui.click("caption/number");
  ui.type("1, x");
  ui.key("Enter");
  CHECK(asked.walk().given.unreadable);
  for (int i = 0; i < 6; ++i) ui.key("Backspace");
  ui.type("N L H D");
  ui.key("Enter");
  ui.run_frames(2);
  CHECK(answer_verdict(asked.walk()) ==
        "You said (1,12,8,16); it is (1,8,12,16). The sizes are right, their order is not.");
}
