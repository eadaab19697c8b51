// What a page of a playlist does with the window: it asks and answers, sets how things are shown,
// and puts tools down.
#include "app/window/playlist_walk.h"
#include "core/playlist/lessons.h"
#include "tests/app/window/playlist_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("a page that asks hides its answer until the next press, and numbers follow the trace") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [
    {"step": "softmax", "ask": "How many heads?", "caption": "{H}, and {sum attn_weights[0,4,0,:]}, {5."},
    {"step": "output", "caption": "b"}]})"));
  const PlaylistWalk& walk = bench.window->state().document.walk;
  CHECK(bench.ui->has("caption/ask"));
  CHECK_FALSE(bench.ui->has("caption/words"));
  CHECK(bench.window->state().view.notices.notices.size() == 1);  // the brace without a partner
  bench.window->state().view.notices.dismiss_all();
  bench.ui->key("PageDown");
  CHECK(walk.page == 0);
  CHECK(bench.ui->has("caption/words"));
  CHECK(walk.words.caption == "8, and 1.00, {5.");
  Scenario changed = bench.scenario();
  changed.attention.num_heads = 4;
  bench.window->state().document.session.edit(changed, "fewer heads");
  bench.ui->run_frames(2);
  // There is no head 4 any more: nothing is claimed of it.
  CHECK(walk.words.caption.empty());
  CHECK(walk.words.caption_changed);
  bench.ui->click("caption/restore");
  bench.ui->run_frames(2);
  CHECK(bench.scenario().attention.num_heads == 8);
  CHECK(walk.words.caption == "8, and 1.00, {5.");
  CHECK_FALSE(bench.ui->has("caption/restore"));
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario().attention.num_heads == 4);
  bench.ui->key("PageDown");
  CHECK(walk.page == 1);
  bench.ui->key("PageUp");
  CHECK(walk.page == 0);
  CHECK(bench.ui->has("caption/words"));
  bench.window->state().document.walk.answered = false;
  bench.ui->run_frames(1);
  bench.ui->click("caption/answer");
  bench.ui->run_frames(1);
  CHECK(bench.ui->has("caption/words"));
}

TEST_CASE("on a page the line at the foot speaks of what was changed there, not of the page") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const WindowState& state = bench.window->state();
  bench.ui->key("C");
  CHECK(last_edit_notice(state.document).starts_with("Causal mask on"));
  start_walk(bench.window->state(), lesson_playlist("break_it"));
  for (std::size_t page = 0; page < 4; ++page) {
    if (page > 0) show_page(bench.window->state(), page);
    bench.ui->run_until_still();
    CAPTURE(page);
    CHECK(last_edit_notice(state.document).empty());
  }
  bench.ui->key("M");
  bench.ui->run_until_still();
  CHECK_CONTAINS(last_edit_notice(state.document), "muted");
  bench.ui->key("Ctrl+Z");
  bench.ui->run_until_still();
  CHECK(last_edit_notice(state.document).starts_with("Undone"));
  show_page(bench.window->state(), 0);
  bench.ui->run_until_still();
  CHECK(last_edit_notice(state.document).empty());
  leave_walk(bench.window->state());
  bench.ui->run_until_still();
  CHECK(last_edit_notice(state.document).empty());  // nothing of one's own has changed
}

TEST_CASE("a page that asks before its step says nothing of the answer, and walks into it") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"caption": "First."},
    {"set": ["mask.preset=padding:12"], "step": "softmax", "tensor": "attn_weights",
     "pin": {"tensor": "attn_weights", "index": [0, 0, 0, 0]}, "ask": "What is it?", "ask_step": "mask",
     "caption": "NaN."}]})"));
  bench.ui->key("PageDown");
  bench.ui->run_until_still();
  const WindowState& state = bench.window->state();
  CHECK(state.document.walk.asking());
  CHECK(bench.selection().step == Step::mask);
  CHECK_FALSE(bench.selection().pinned);
  CHECK_FALSE(bench.selection().tensor);
  CHECK(last_edit_notice(state.document).empty());
  CHECK_CONTAINS(state.document.session.last_edit(), "NaN");

  bench.ui->key("PageDown");
  CHECK_FALSE(state.document.walk.asking());
  CHECK(state.document.walk.page == 1);
  CHECK(bench.selection().step == Step::softmax);
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 0, 0}});
  bench.ui->run_until_still();

  // Who comes back has seen the answer.
  bench.ui->key("PageUp");
  CHECK(bench.selection().step == Step::inputs);
  start_walk(bench.window->state(), state.document.walk.playlist, {}, 1);
  bench.ui->run_frames(2);
  CHECK(bench.selection().step == Step::mask);
}

TEST_CASE("a page writes masks as it says, and the next one as the person likes it") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.window->state().view.selection.compare_with = CompareWith::scale;
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [
    {"scenario": "causal", "step": "mask", "masks_as": "true_blocks"}, {"masks_as": "true_keeps"},
    {"step": "softmax", "view": "compare", "beside": "one_wide_head"}, {"view": "one_head"}]})"));
  CHECK(bench.selection().mask_convention == MaskConvention::true_blocks);
  bench.ui->key("PageDown");
  CHECK(bench.selection().mask_convention == MaskConvention::true_keeps);
  bench.ui->key("PageDown");
  CHECK(bench.selection().mask_convention == MaskConvention::added);
  CHECK(bench.selection().compare_with == CompareWith::one_wide_head);
  bench.ui->key("PageDown");
  CHECK(bench.selection().compare_with == CompareWith::scale);
  bench.ui->key("PageUp");
  bench.ui->key("Escape");
  CHECK(bench.selection().compare_with == CompareWith::scale);
}

TEST_CASE("a brush is put down when a page is turned") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.window->state().view.selection.step = Step::mask;
  bench.ui->run_frames(2);
  bench.ui->click("stage/brush/row");
  drop(bench,
       lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"scenario": "causal", "step": "mask"}]})"));
  const Scenario before = bench.scenario();
  bench.ui->click("stage/result");
  CHECK(bench.scenario() == before);
  CHECK(bench.selection().pinned);
}
