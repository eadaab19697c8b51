// Walking through a playlist in the window, and making one.
#include <doctest/doctest.h>

#include <fstream>

#include "app/window/playlist_walk.h"
#include "app/window/window_commands.h"
#include "core/playlist/lessons.h"
#include "tests/app/window_bench.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

constexpr const char* lesson = R"({ "headwise_playlist": 1, "title": "A lesson", "pages": [
  { "scenario": "hand_made", "step": "scores", "head": 4, "caption": "Every query meets every key." },
  { "step": "scale", "caption": "Divided." },
  { "scenario": "causal", "step": "softmax", "view": "all_heads", "head": 2,
    "pin": { "tensor": "attn_weights", "index": [0, 2, 3, 1] }, "caption": "Pinned." } ] })";

std::string lesson_file(const TemporaryFolder& folder, const char* text = lesson) {
  return folder.with_file("lesson.json", text);
}

void drop(WindowBench& bench, const std::string& path) {
  bench.ui->push(FilesDropped{{path}});
  bench.ui->run_frames(3);
}

}  // namespace

TEST_CASE(
    "a playlist that is dropped is walked with the keys of a clicker, and Escape gives the own place back") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  bench.ui->key("M");
  bench.ui->key("6");
  bench.ui->key("Right");
  const Scenario own = bench.scenario();
  const Selection place = bench.selection();
  CHECK_FALSE(bench.ui->has("panel/caption"));

  drop(bench, lesson_file(folder));
  CHECK(bench.scenario() == preset_scenario("hand_made"));
  CHECK(bench.selection().step == Step::scores);
  CHECK(bench.selection().head == 4);
  CHECK(bench.ui->has("panel/caption"));
  CHECK(bench.ui->has("caption/words"));
  CHECK_FALSE(bench.ui->has("panel/graph"));

  bench.ui->key("PageDown");
  CHECK(bench.selection().step == Step::scale);
  CHECK(bench.selection().head == 4);
  bench.ui->run_until_still();
  bench.ui->key("PageDown");
  CHECK(bench.scenario() == preset_scenario("causal"));
  CHECK(bench.selection().view == StageView::all_heads);
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 2, 3, 1}});
  bench.ui->key("PageDown");
  CHECK(bench.window->state().walk.page == 2);
  bench.window->state().notices.dismiss_all();
  bench.ui->key("PageUp");
  CHECK(bench.window->state().walk.page == 1);
  CHECK_FALSE(bench.selection().pinned);
  bench.ui->key("PageDown");

  bench.ui->key("Escape");
  CHECK_FALSE(bench.window->state().walk.page);
  CHECK(bench.scenario() == own);
  CHECK(bench.selection().step == place.step);
  CHECK(bench.selection().head == 6);
  CHECK_FALSE(bench.selection().pinned);
  CHECK(bench.ui->has("panel/graph"));
  // What is taken back now are the person's own edits, not the pages.
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == preset_scenario("hand_made"));
  CHECK_FALSE(bench.session().history().can_undo());
}

TEST_CASE("what a person does to a page is undone by the next one, and stays an undo step away") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  drop(bench, lesson_file(folder));
  bench.ui->key("M");
  const Scenario muted = bench.scenario();
  CHECK_FALSE(muted == preset_scenario("hand_made"));
  bench.ui->key("PageDown");
  CHECK(bench.scenario() == preset_scenario("hand_made"));
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == muted);
}

TEST_CASE("the buttons beside the caption turn the pages, and leave") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 720);
  if (!bench.ui) return;
  drop(bench, lesson_file(folder));
  bench.ui->click("caption/forward");
  CHECK(bench.window->state().walk.page == 1);
  bench.ui->click("caption/back");
  CHECK(bench.window->state().walk.page == 0);
  bench.ui->click("caption/leave");
  CHECK_FALSE(bench.window->state().walk.page);
}

TEST_CASE("a playlist that is wrong is told in a sentence and changes nothing") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  const Scenario before = bench.scenario();
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"step": "softmaks"}]})"));
  CHECK(bench.scenario() == before);
  CHECK_FALSE(bench.window->state().walk.page);
  REQUIRE(bench.window->state().notices.notices.size() == 1);
  CHECK(bench.window->state().notices.notices[0].text.find("\"softmax\"") != std::string::npos);
}

TEST_CASE("a page whose head or cell is not there is shown as far as it goes, and says so") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"step": "scores", "head": 40}]})"));
  CHECK(bench.selection().step == Step::scores);
  CHECK(bench.selection().head == 7);
  REQUIRE(bench.window->state().notices.notices.size() == 1);
  CHECK(bench.window->state().notices.notices[0].text ==
        "Page 1: there is no head 40: 8 heads, counted from 0");
}

TEST_CASE("a page whose scenario has no trace says why, and the walk goes on") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"set": ["attention.num_heads=7"]},
                                       {"scenario": "random", "step": "output"}]})"));
  CHECK(bench.ui->has("notice/lasting"));
  CHECK(bench.window->state().walk.page == 0);
  bench.ui->key("PageDown");
  CHECK_FALSE(bench.ui->has("notice/lasting"));
  CHECK(bench.selection().step == Step::output);
}

TEST_CASE("a scenario that is computed in the background takes its page's place when it is there") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"scenario":
    {"attention": {"embed_dim": 256, "num_heads": 16}, "inputs": {"query_length": 300}},
    "step": "softmax", "head": 13, "pin": {"tensor": "attn_weights", "index": [0, 13, 299, 299]}}]})"));
  bench.window->state().session.finish();
  bench.ui->run_frames(3);
  CHECK(bench.trace().options.num_heads == 16);
  CHECK(bench.selection().head == 13);
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 13, 299, 299}});
  CHECK(bench.window->state().notices.notices.empty());
}

TEST_CASE(
    "pages are added from what the window shows, get captions, and are saved to a file that opens again") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  const auto command = [&](CommandId id) {
    perform(bench.window->state(), CommandCall{id});
    bench.ui->run_frames(3);
  };
  bench.ui->key("3");
  bench.ui->key("End");
  command(CommandId::add_page);
  bench.ui->key("C");
  bench.ui->key("Home");
  command(CommandId::add_page);
  CHECK(bench.window->state().walk.playlist.pages.size() == 2);

  command(CommandId::walk_playlist);
  CHECK(bench.selection().step == Step::output);
  CHECK(bench.selection().head == 3);
  bench.ui->click("caption/edit");
  bench.ui->type("The end comes first.");
  bench.ui->click("caption/edit");
  command(CommandId::save_playlist);
  bench.ui->key("Ctrl+A");
  bench.ui->type(folder.file("mine"));
  bench.ui->key("Enter");

  const Playlist saved = read_playlist_file(folder.file("mine.json"));
  REQUIRE(saved.pages.size() == 2);
  CHECK(saved.pages[0].caption == "The end comes first.");
  CHECK(saved.pages[0].step == Step::output);
  CHECK(saved.pages[1].scenario->mask.is_causal);
  CHECK(saved == bench.window->state().walk.playlist);

  command(CommandId::remove_page);
  CHECK(bench.window->state().walk.playlist.pages.size() == 1);
  CHECK(bench.selection().step == Step::inputs);
  command(CommandId::remove_page);
  CHECK_FALSE(bench.window->state().walk.page);
  CHECK(bench.window->state().walk.playlist.pages.empty());
}

TEST_CASE("a page that asks hides its answer until the next press, and numbers follow the trace") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [
    {"step": "softmax", "ask": "How many heads?", "caption": "{H}, and {sum attn_weights[0,4,0,:]}, {5."},
    {"step": "output", "caption": "b"}]})"));
  const PlaylistWalk& walk = bench.window->state().walk;
  CHECK(bench.ui->has("caption/ask"));
  CHECK_FALSE(bench.ui->has("caption/words"));
  CHECK(bench.window->state().notices.notices.size() == 1);  // the brace without a partner
  bench.window->state().notices.dismiss_all();
  bench.ui->key("PageDown");
  CHECK(walk.page == 0);
  CHECK(bench.ui->has("caption/words"));
  CHECK(walk.words.caption == "8, and 1.00, {5.");
  Scenario changed = bench.scenario();
  changed.attention.num_heads = 4;
  bench.window->state().session.edit(changed, "fewer heads");
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
  bench.window->state().walk.answered = false;
  bench.ui->run_frames(1);
  bench.ui->click("caption/answer");
  bench.ui->run_frames(1);
  CHECK(bench.ui->has("caption/words"));
}

TEST_CASE(
    "a claim that a change makes false gives way to another one, or to the link that restores the page") {
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  WindowState& window = bench.window->state();
  const Playlist& questions = lesson_playlist("questions");
  const auto page = [&](std::string_view word) {
    for (std::size_t i = 0; i < questions.pages.size(); ++i)
      if (questions.pages[i].title.find(word) != std::string::npos) return i;
    return questions.pages.size();
  };
  const auto says = [&](const char* words) {
    return window.walk.words.caption.find(words) != std::string::npos;
  };
  start_walk(window, questions, {}, page("every key"));
  bench.ui->run_frames(2);
  bench.ui->key("PageDown");
  CHECK(says("PyTorch's module does the same"));
  Scenario filled = bench.scenario();
  filled.mask.value = -1e9;
  window.session.edit(filled, "fill");
  bench.ui->run_frames(2);
  CHECK_FALSE(says("is not a number"));
  CHECK_FALSE(says("PyTorch's module does the same"));
  CHECK(says("0.083 for every key"));
  CHECK_FALSE(bench.ui->has("caption/restore"));

  start_walk(window, questions, {}, page("over rows"));
  bench.ui->run_frames(2);
  bench.ui->key("PageDown");
  CHECK(says("add up to 1.00"));
  Scenario blocked = bench.scenario();
  blocked.mask.preset = "padding:12";
  window.session.edit(blocked, "pad everything");
  bench.ui->run_frames(2);
  CHECK_FALSE(says("add up to"));
  bench.ui->save_png("caption_changed");
  bench.ui->click("caption/restore");
  bench.ui->run_frames(2);
  CHECK(bench.scenario() == *questions.pages[page("over rows")].scenario);
  CHECK(says("add up to 1.00"));
  bench.ui->save_png("caption_restored");
}

TEST_CASE("the lessons of the menu are walked, and a question is found by its words") {
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  const PlaylistWalk& walk = bench.window->state().walk;
  bench.ui->click("menu/Teach");
  bench.ui->click("menu/lesson/first_walk");
  bench.ui->run_frames(2);
  REQUIRE(walk.page);
  CHECK(walk.playlist.title == "One word through the layer");
  CHECK(walk.path.empty());
  bench.ui->key("Escape");
  CHECK_FALSE(walk.page);

  bench.ui->key("Ctrl+Shift+P");
  bench.ui->type("bright cell important");
  bench.ui->key("Enter");
  bench.ui->run_frames(2);
  REQUIRE(walk.page);
  CHECK(walk.shown()->title == "Is a bright cell an important one?");
}

TEST_CASE("every page of every lesson fits under the stage, and leaves the stage most of the window") {
  WindowBench bench = open_window(1280, 720);
  if (!bench.ui) return;
  WindowState& state = bench.window->state();
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
      CAPTURE(playlist.pages[page].title);
      start_walk(state, playlist, {}, page);
      state.walk.answered = true;
      bench.ui->run_frames(2);
      const UiRect stage = bench.ui->rect("panel/stage");
      CHECK(bench.ui->rect("caption/words").max.y + 8 <= bench.ui->rect("panel/caption").max.y);
      CHECK(stage.max.y - stage.min.y > 300);
      CHECK(state.notices.notices.empty());
    }
  }
}

TEST_CASE(
    "turning a page leaves it as the person likes it: which way round the maps stand, how masks are "
    "written") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  bench.ui->key("Q");
  drop(bench, lesson_file(folder));
  CHECK(bench.selection().queries_as_columns);
  bench.ui->key("PageDown");
  CHECK(bench.selection().step == Step::scale);
  CHECK(bench.selection().queries_as_columns);
}

TEST_CASE(
    "a page brings along what stands beside in the view compare, and a page made of that view keeps it") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  drop(bench, lesson_file(folder, R"({ "headwise_playlist": 1, "pages": [
    { "step": "softmax", "view": "compare", "beside": "scale" }, { "step": "split_heads", "view": "memory" } ] })"));
  CHECK(bench.selection().view == StageView::compare);
  CHECK(bench.selection().compare_with == CompareWith::scale);
  bench.ui->key("PageDown");
  CHECK(bench.selection().view == StageView::memory);
  CHECK(bench.ui->has("stage/memory/right"));
  bench.ui->key("PageUp");
  bench.window->state().selection.compare_with = CompareWith::mask;
  perform(bench.window->state(), {CommandId::add_page});
  CHECK(bench.window->state().walk.playlist.pages[1].beside == CompareWith::mask);
}

TEST_CASE("on a page the line at the foot speaks of what was changed there, not of the page") {
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  const WindowState& state = bench.window->state();
  bench.ui->key("C");
  CHECK(told_of_last_edit(state).starts_with("Causal mask on"));
  start_walk(bench.window->state(), lesson_playlist("break_it"));
  for (std::size_t page = 0; page < 4; ++page) {
    if (page > 0) show_page(bench.window->state(), page);
    bench.ui->run_until_still();
    CAPTURE(page);
    CHECK(told_of_last_edit(state).empty());
  }
  bench.ui->key("M");
  bench.ui->run_until_still();
  CHECK(told_of_last_edit(state).find("muted") != std::string::npos);
  bench.ui->key("Ctrl+Z");
  bench.ui->run_until_still();
  CHECK(told_of_last_edit(state).starts_with("Undone"));
  show_page(bench.window->state(), 0);
  bench.ui->run_until_still();
  CHECK(told_of_last_edit(state).empty());
  leave_walk(bench.window->state());
  bench.ui->run_until_still();
  CHECK_FALSE(told_of_last_edit(state).empty());
}

TEST_CASE("a page that asks before its step says nothing of the answer, and walks into it") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"caption": "First."},
    {"set": ["mask.preset=padding:12"], "step": "softmax", "tensor": "attn_weights",
     "pin": {"tensor": "attn_weights", "index": [0, 0, 0, 0]}, "ask": "What is it?", "ask_step": "mask",
     "caption": "NaN."}]})"));
  bench.ui->key("PageDown");
  bench.ui->run_until_still();
  const WindowState& state = bench.window->state();
  CHECK(state.walk.asking());
  CHECK(bench.selection().step == Step::mask);
  CHECK_FALSE(bench.selection().pinned);
  CHECK_FALSE(bench.selection().tensor);
  CHECK(told_of_last_edit(state).empty());
  CHECK(state.session.last_edit().find("NaN") != std::string::npos);

  bench.ui->key("PageDown");
  CHECK_FALSE(state.walk.asking());
  CHECK(state.walk.page == 1);
  CHECK(bench.selection().step == Step::softmax);
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 0, 0}});
  bench.ui->run_until_still();

  // Who comes back has seen the answer.
  bench.ui->key("PageUp");
  CHECK(bench.selection().step == Step::inputs);
  start_walk(bench.window->state(), state.walk.playlist, {}, 1);
  bench.ui->run_frames(2);
  CHECK(bench.selection().step == Step::mask);
}

TEST_CASE("a page writes masks as it says, and the next one as the person likes it") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  bench.window->state().selection.compare_with = CompareWith::scale;
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
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  bench.window->state().selection.step = Step::mask;
  bench.ui->run_frames(2);
  bench.ui->click("stage/brush/row");
  drop(bench,
       lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"scenario": "causal", "step": "mask"}]})"));
  const Scenario before = bench.scenario();
  bench.ui->click("stage/result");
  CHECK(bench.scenario() == before);
  CHECK(bench.selection().pinned);
}
