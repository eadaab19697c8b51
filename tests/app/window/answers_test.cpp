// Questions that take answers: given with the keys or the mouse alone, then held beside the result.
#include <algorithm>
#include <string>

#include "app/window/frame_snapshot.h"
#include "app/window/page_turns.h"
#include "app/window/playlist_making.h"
#include "app/window/stage_pictures.h"
#include "core/lessons/lessons.h"
#include "tests/app/window/answers_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("a digit chooses an option; the result comes, the question stays, and beside it why it was wrong") {
  BENCH_OR_SKIP(Asked, asked);
  UiDriver& ui = asked.ui();
  CHECK(asked.offers("caption/option/3"));
  CHECK_FALSE(asked.offers("caption/option/4"));
  CHECK_FALSE(asked.offers("caption/words"));
  CHECK(asked.now().step == Step::mask);
  ui.key("4");  // no option: a head, as ever
  CHECK(asked.walk().asking());
  ui.key("1").run_until_still();
  CHECK_FALSE(asked.walk().asking());
  CHECK(asked.now().step == Step::softmax);
  CHECK(asked.walk().page == 0);
  CHECK(asked.offers("caption/ask"));
  CHECK(asked.offers("caption/verdict"));
  CHECK(answer_verdict(asked.walk()).starts_with("You chose 1, “at itself”: wrong. It gives itself 0.0"));

  ui.click("caption/see");
  CHECK(asked.walk().page == 1);
  CHECK(asked.walk().asking());
  ui.key("PageUp");
  CHECK(answer_verdict(asked.walk()).starts_with("You chose 1"));  // the answer was kept
  ui.key("2");
  CHECK(asked.now().head == 2);  // what digits do while nothing is asked
}

TEST_CASE("an option is chosen with the mouse, and its link leads to a page of a built-in lesson") {
  BENCH_OR_SKIP(Asked, asked);
  asked.ui().click("caption/option/3");
  CHECK(answer_verdict(asked.walk()) == "You chose 3, “at the noun”; it is 2, “one word back”.");
  asked.ui().run_frames(2).click("caption/see");
  CHECK(asked.walk().shown()->title == "Softmax over rows, or over columns?");
  CHECK(asked.walk().from_program);
}

TEST_CASE("the verdict follows the numbers when the page is changed") {
  BENCH_OR_SKIP(Asked, asked);
  asked.ui().key("2");
  CHECK(answer_verdict(asked.walk()) == "You chose 2, “one word back”: right.");
  CHECK_FALSE(asked.offers("caption/see"));
  asked.ui().run_until_still();
  Scenario flat = asked.bench.scenario();
  flat.inputs.positions = false;
  asked.bench.session().edit(flat, "positions off", false);
  asked.ui().run_frames(3);
  CHECK_CONTAINS(answer_verdict(asked.walk()), "As the page is now, no single option is right");
}

TEST_CASE("a number is typed without touching the mouse, and the page says how far off it was") {
  BENCH_OR_SKIP(Asked, asked);
  UiDriver& ui = asked.ui();
  asked.state().view.settings.reduce_motion = true;
  ui.key("2").key("PageDown");
  REQUIRE(asked.walk().page == 1);
  CHECK(asked.walk().asking());
  ui.key("0").run_frames(2).type("0.4 of it").key("Enter");
  CHECK(asked.walk().asking());
  CHECK(asked.walk().given.unreadable);
  for (int i = 0; i < 20; ++i) ui.key("Backspace");
  ui.type("0,4").key("Enter").run_frames(3);
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()) == "You said 0.400; it is 0.901 of 1: 0.501 too low.");
  CHECK(asked.offers("caption/ask"));
  CHECK_FALSE(asked.offers("caption/number"));
}

TEST_CASE("a number within reach of the key is right") {
  BENCH_OR_SKIP(Asked, asked);
  UiDriver& ui = asked.ui();
  ui.key("PageDown").key("PageDown");
  CHECK(answer_verdict(asked.walk()).empty());
  ui.click("caption/number").type("90 %").click("caption/give").run_frames(2);
  CHECK(answer_verdict(asked.walk()) == "You said 0.900: right, it is 0.901 of 1.");
}

TEST_CASE("Page Down submits a number that was typed, and goes on from an empty field") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  const Playlist& lesson = lesson_playlist("heads_differ");
  PlaylistWalk& walk = bench.walk();
  for (const bool typed : {true, false}) {
    start_walk(bench.state(), lesson, "", 2);
    bench.ui->run_until_still().click("caption/number");
    if (typed) bench.ui->type("50");
    bench.ui->key("PageDown").run_until_still();
    CHECK_FALSE(walk.asking());
    CHECK_CONTAINS(answer_verdict(walk), typed ? "You said 50: right" : "It is 50.8");
  }
}

TEST_CASE("an answer is no command: one that comes after the page has answered turns no page") {
  BENCH_OR_SKIP(Asked, asked);
  for (int i = 0; i < 2; ++i) {
    asked.walk().given.done = true;
    asked.ui().run_until_still();
    CHECK_FALSE(asked.walk().asking());
    CHECK(asked.walk().page == 0);
  }
}

TEST_CASE("going on without an answer shows the result, and what is right") {
  BENCH_OR_SKIP(Asked, asked);
  asked.ui().key("PageDown");
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()) == "It is 2, “one word back”.");
  asked.ui().run_until_still();
  CHECK(asked.offers("caption/verdict"));
  CHECK(asked.offers("caption/words"));
}

TEST_CASE("the panel of the words is as high after the answer as before it, and holds what it shows") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {1280, 600}}) {
    WINDOW_OR_SKIP(bench, open_window(width, height));
    bench.ui->rasterise(false);
    bench.state().view.settings.reduce_motion = true;
    for (const Lesson& lesson : lessons()) {
      const Playlist& playlist = lesson_playlist(lesson.name);
      for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
        if (!playlist.pages[page].answer) continue;
        CAPTURE(width);
        CAPTURE(playlist.pages[page].title);
        start_walk(bench.state(), playlist, "", page);
        bench.ui->run_until_still();
        const UiRect before = bench.ui->rect("panel/caption");
        for (const char* name :
             {"caption/ask", "caption/answer", "caption/option/1", "caption/number", "caption/bars"})
          if (bench.ui->has(name)) CHECK(bench.ui->rect(name).max.y <= before.max.y);
        if (playlist.pages[page].answer->chooses()) {
          // The longest verdict
          const PageWords& words = bench.walk().words;
          std::size_t longest = 0;
          for (std::size_t i = 0; i < words.reasons.size(); ++i)
            if (words.reasons[i].size() > words.reasons[longest].size()) longest = i;
          bench.ui->key(std::to_string(longest + 1));
        } else if (bench.ui->has("caption/number")) {
          bench.ui->click("caption/number");
          bench.ui->type(playlist.pages[page].answer->kind == AnswerKind::shape ? "4, 3, 2, 1" : "0.4");
          bench.ui->key("Enter");
        } else if (bench.ui->has("caption/bars")) {
          bench.ui->click("caption/bars").click("caption/give");
        } else if (bench.ui->has("caption/head/0")) {
          bench.ui->click("caption/head/0");
        } else if (bench.ui->has("caption/give")) {
          bench.ui->click("stage/veil").click("caption/give");
        } else {
          bench.ui->click("stage/veil");
        }
        bench.ui->run_until_still();
        REQUIRE(bench.ui->has("caption/verdict"));
        const UiRect after = bench.ui->rect("panel/caption");
        CHECK(after.min.y == before.min.y);
        for (const char* name : {"caption/verdict", "caption/words", "caption/see", "caption/bars"})
          if (bench.ui->has(name)) CHECK(bench.ui->rect(name).max.y <= after.max.y);
      }
    }
  }
}

TEST_CASE("what an option quotes stands in single marks, within those around the option") {
  PageWords words;
  words.options = {"at “animal”", "elsewhere"};
  words.reasons = {"", ""};
  words.key.option = 0;
  CHECK(choice_verdict(words, 0) == "You chose 1, “at ‘animal’”: right.");
  CHECK(choice_verdict(words, 1) == "You chose 2, “elsewhere”; it is 1, “at ‘animal’”.");
}

namespace {

// The right head is the one that the page itself looks at.
constexpr const char* which_head = R"({ "headwise_playlist": 1, "pages": [
  { "title": "Which", "scenario": "hand_made", "step": "softmax", "view": "all_heads", "head": 0, "ask": "Which head?",
    "caption": "This one.", "answer": {"kind": "head", "is": "argmax attn_weights[0,:,8,7]"} } ] })";

struct HeadAsked : Asked {
  explicit HeadAsked(StageView view) : Asked(which_head, 0) {
    if (!bench.ui) return;
    now().view = view;
    ui().run_until_still();
  }
};

}  // namespace

TEST_CASE("a click on the head that the page shows answers as one on any other") {
  for (const StageView view : {StageView::all_heads, StageView::head_rows, StageView::one_head}) {
    for (const int head : {0, 5}) {
      CAPTURE(head);
      BENCH_OR_SKIP(HeadAsked, asked, view);
      REQUIRE(asked.walk().asking());
      asked.ui().click("heads/number/" + std::to_string(head));
      CHECK_FALSE(asked.walk().asking());
      CHECK(asked.walk().given.head == head);
    }
  }
}

TEST_CASE("a click anywhere on the map of a head answers with it") {
  BENCH_OR_SKIP(HeadAsked, asked, StageView::all_heads);
  const UiRect map = asked.ui().rect("stage/map/0");
  asked.ui().click((map.min.x + map.max.x) / 2, (map.min.y + map.max.y) / 2);
  CHECK(asked.walk().given.head == 0);
  CHECK_FALSE(asked.now().pinned);
}

TEST_CASE("while a page asks for a head, none is marked as the one that is shown") {
  BENCH_OR_SKIP(HeadAsked, asked, StageView::all_heads);
  WindowState& state = asked.state();
  const Image asking_for = asked.ui().rasterise(true).run_frames(1).pixels();
  state.view.selection.head = 5;
  asked.ui().run_until_still();
  // The stage looks the same, whichever head the page has chosen.
  const UiRect stage = asked.ui().rect("panel/stage");
  const Image other = asked.ui().pixels();
  bool same = true;
  for (int y = static_cast<int>(stage.min.y); y < static_cast<int>(stage.max.y); ++y)
    for (int x = static_cast<int>(stage.min.x); x < static_cast<int>(stage.max.x); ++x)
      for (int c = 0; c < 4; ++c) {
        const auto at = static_cast<std::size_t>(4 * (y * other.width + x) + c);
        same = same && asking_for.rgba[at] == other.rgba[at];
      }
  CHECK(same);
  asked.key("0");
  CHECK_FALSE(FrameSnapshot(state).points_at_heads);
}

TEST_CASE("while a page asks for a head, no name tells what each does, in the window and on a slide") {
  for (const StageView view : {StageView::all_heads, StageView::head_rows, StageView::one_head}) {
    CAPTURE(static_cast<int>(view));
    BENCH_OR_SKIP(HeadAsked, asked, view);
    WindowState& state = asked.state();
    for (const StagePictures::Look look : {StagePictures::Look::window, StagePictures::Look::presentation}) {
      StagePictures pictures(StagePictures::usual_width, StagePictures::usual_height, Theme::light, look);
      CHECK_LACKS(pictures.svg(state), "previous");
    }
    asked.key("0");
    StagePictures pictures(StagePictures::usual_width, StagePictures::usual_height, Theme::light);
    CHECK_CONTAINS(pictures.svg(state), "previous");
  }
}

TEST_CASE("in a hall the frame around the right head lies over no label") {
  BENCH_OR_SKIP(HeadAsked, asked, StageView::all_heads);
  asked.key("F11").key("0");
  CHECK(asked.ui().rect("label/column/0").min.y >= asked.ui().rect("stage/map/7").max.y + 4);
  CHECK(asked.ui().rect("label/column/0").min.y >= asked.ui().rect("stage/right_head").max.y);
}

TEST_CASE("a pinned cell does not tell which head is asked for, and is there with the answer") {
  BENCH_OR_SKIP(Asked, asked, 1280, 900);
  drop(asked.bench, lesson_file(asked.folder, R"({ "headwise_playlist": 1, "pages": [
    { "title": "Which", "scenario": "hand_made", "step": "softmax", "view": "all_heads", "head": 0, "spotlight": true,
      "pin": {"tensor": "attn_weights", "index": [0, 0, 8, 7]}, "ask": "Which head?", "caption": "This one.",
      "answer": {"kind": "head", "is": "argmax attn_weights[0,:,8,7]"} } ] })"));
  asked.ui().run_until_still();
  WindowState& state = asked.state();
  const CellRef pin{{TensorId::attn_weights}, {0, 0, 8, 7}};
  CHECK(state.view.selection.view == StageView::all_heads);
  CHECK_FALSE(state.view.selection.pinned);
  CHECK_FALSE(state.view.selection.spotlight);
  update_page(state);  // would lose it
  CHECK(asked.walk().shown()->pin == pin);
  asked.key("PageDown");
  CHECK(state.view.selection.pinned == pin);
  CHECK(state.view.selection.spotlight);
}
