// A page that asks for a head, with the head that its place shows among the answers.
#include <string>

#include "app/window/frame_snapshot.h"
#include "app/window/playlist_making.h"
#include "app/window/stage_pictures.h"
#include "tests/app/window/answers_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

// The right head is the one that the page itself looks at.
constexpr const char* which_head = R"({ "headwise_playlist": 1, "pages": [
  { "title": "Which", "scenario": "hand_made", "step": "softmax", "view": "all_heads", "head": 0, "ask": "Which head?",
    "caption": "This one.", "answer": {"kind": "head", "is": "argmax attn_weights[0,:,8,7]"} } ] })";

struct HeadAsked : Asked {
  explicit HeadAsked(StageView view) : Asked(1280, 900) {
    if (!bench.ui) return;
    bench.window->state().view.settings.reduce_motion = true;
    drop(bench, lesson_file(folder, which_head));
    bench.window->state().view.selection.view = view;
    bench.ui->run_until_still();
  }
};

}  // namespace

TEST_CASE("a click on the head that the page shows answers as one on any other") {
  for (const StageView view : {StageView::all_heads, StageView::head_rows, StageView::one_head}) {
    for (const int head : {0, 5}) {
      CAPTURE(head);
      BENCH_OR_SKIP(HeadAsked, asked, view);
      REQUIRE(asked.walk().asking());
      asked.bench.ui->click("heads/number/" + std::to_string(head));
      CHECK_FALSE(asked.walk().asking());
      CHECK(asked.walk().given.head == head);
    }
  }
}

TEST_CASE("a click anywhere on the map of a head answers with it") {
  BENCH_OR_SKIP(HeadAsked, asked, StageView::all_heads);
  const UiRect map = asked.bench.ui->rect("stage/map/0");
  asked.bench.ui->click((map.min.x + map.max.x) / 2, (map.min.y + map.max.y) / 2);
  CHECK(asked.walk().given.head == 0);
  CHECK_FALSE(asked.bench.selection().pinned);
}

TEST_CASE("while a page asks for a head, none is marked as the one that is shown") {
  BENCH_OR_SKIP(HeadAsked, asked, StageView::all_heads);
  WindowState& state = asked.bench.window->state();
  const Image asking_for = asked.bench.ui->pixels();
  state.view.selection.head = 5;
  asked.bench.ui->run_until_still();
  // The stage looks the same, whichever head the page has chosen.
  const UiRect stage = asked.bench.ui->rect("panel/stage");
  const Image other = asked.bench.ui->pixels();
  bool same = true;
  for (int y = static_cast<int>(stage.min.y); y < static_cast<int>(stage.max.y); ++y)
    for (int x = static_cast<int>(stage.min.x); x < static_cast<int>(stage.max.x); ++x)
      for (int c = 0; c < 4; ++c) {
        const auto at = static_cast<std::size_t>(4 * (y * other.width + x) + c);
        same = same && asking_for.rgba[at] == other.rgba[at];
      }
  CHECK(same);
  asked.bench.ui->key("0");
  asked.bench.ui->run_until_still();
  CHECK_FALSE(FrameSnapshot(state).points_at_heads);
}

TEST_CASE(
    "while a page asks for a head, no name tells what each of them does, in the window and on a slide") {
  for (const StageView view : {StageView::all_heads, StageView::head_rows, StageView::one_head}) {
    CAPTURE(static_cast<int>(view));
    BENCH_OR_SKIP(HeadAsked, asked, view);
    WindowState& state = asked.bench.window->state();
    for (const StagePictures::Look look : {StagePictures::Look::window, StagePictures::Look::presentation}) {
      StagePictures pictures(StagePictures::usual_width, StagePictures::usual_height, Theme::light, look);
      CHECK_LACKS(pictures.svg(state), "previous");
    }
    asked.bench.ui->key("0");
    asked.bench.ui->run_until_still();
    StagePictures pictures(StagePictures::usual_width, StagePictures::usual_height, Theme::light);
    CHECK_CONTAINS(pictures.svg(state), "previous");
  }
}

TEST_CASE("in a hall the frame around the right head lies over no label") {
  BENCH_OR_SKIP(HeadAsked, asked, StageView::all_heads);
  asked.bench.ui->key("F11");
  asked.bench.ui->key("0");
  asked.bench.ui->run_until_still();
  CHECK(asked.bench.ui->rect("label/column/0").min.y >= asked.bench.ui->rect("stage/map/7").max.y + 4);
  CHECK(asked.bench.ui->rect("label/column/0").min.y >= asked.bench.ui->rect("stage/right_head").max.y);
}

TEST_CASE("a pinned cell does not tell which head is asked for, and is there with the answer") {
  BENCH_OR_SKIP(Asked, asked, 1280, 900);
  drop(asked.bench, lesson_file(asked.folder, R"({ "headwise_playlist": 1, "pages": [
    { "title": "Which", "scenario": "hand_made", "step": "softmax", "view": "all_heads", "head": 0, "spotlight": true,
      "pin": {"tensor": "attn_weights", "index": [0, 0, 8, 7]}, "ask": "Which head?", "caption": "This one.",
      "answer": {"kind": "head", "is": "argmax attn_weights[0,:,8,7]"} } ] })"));
  asked.bench.ui->run_until_still();
  WindowState& state = asked.bench.window->state();
  const CellRef pin{{TensorId::attn_weights}, {0, 0, 8, 7}};
  CHECK(state.view.selection.view == StageView::all_heads);
  CHECK_FALSE(state.view.selection.pinned);
  CHECK_FALSE(state.view.selection.spotlight);
  update_page(state);  // would lose it
  CHECK(asked.walk().shown()->pin == pin);
  asked.bench.ui->key("PageDown");
  asked.bench.ui->run_until_still();
  CHECK(state.view.selection.pinned == pin);
  CHECK(state.view.selection.spotlight);
}
