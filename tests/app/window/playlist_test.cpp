// Playlists in the window: pages from a file, made, walked and saved, and what belongs to each.
#include "app/lesson/playlist_walk.h"
#include "app/window/page_turns.h"

#include "app/window/window_commands.h"
#include "core/lessons/lessons.h"
#include "tests/app/window/playlist_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("a dropped playlist is walked with the keys of a clicker, and Escape gives the own place back") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  bench.ui->key("M").key("6").key("Right");
  const Scenario own = bench.scenario();
  const Selection place = bench.selection();
  CHECK_FALSE(bench.ui->has("panel/caption"));

  drop(bench, lesson_file(folder));
  CHECK(bench.scenario() == preset_scenario("hand_made"));
  CHECK(bench.selection().step == Step::scores);
  CHECK(bench.selection().head == 4);
  bench.ui->check_shown({"panel/caption", "caption/words"});
  CHECK_FALSE(bench.ui->has("panel/graph"));

  bench.ui->key("PageDown");
  CHECK(bench.selection().step == Step::scale);
  CHECK(bench.selection().head == 4);
  bench.ui->run_until_still().key("PageDown");
  CHECK(bench.scenario() == preset_scenario("causal"));
  CHECK(bench.selection().view == StageView::all_heads);
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 2, 3, 1}});
  bench.ui->key("PageDown");
  CHECK(bench.walk().page == 2);
  bench.state().view.notices.dismiss_all();
  bench.ui->key("PageUp");
  CHECK(bench.walk().page == 1);
  CHECK_FALSE(bench.selection().pinned);
  bench.ui->key("PageDown");

  bench.ui->key("Escape");
  CHECK_FALSE(bench.walk().page);
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

TEST_CASE("what a person does to a page is undone by the next one, and undo leads back to both") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 900));
  bench.ui->key("M");
  const Scenario muted = bench.scenario();
  CHECK_FALSE(muted == preset_scenario("hand_made"));
  bench.ui->key("PageDown");
  CHECK(bench.scenario() == preset_scenario("hand_made"));
  bench.ui->key("Ctrl+Z").run_until_still();
  CHECK(bench.scenario() == muted);
  CHECK(bench.walk().page == 0);
}

TEST_CASE("the buttons beside the caption turn the pages, and leave") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 720));
  bench.ui->click("caption/forward");
  CHECK(bench.walk().page == 1);
  bench.ui->click("caption/back");
  CHECK(bench.walk().page == 0);
  bench.ui->click("caption/leave");
  CHECK_FALSE(bench.walk().page);
}

TEST_CASE("a playlist that is wrong is told in a sentence and changes nothing") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  const Scenario before = bench.scenario();
  drop(bench, lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"step": "softmaks"}]})"));
  CHECK(bench.scenario() == before);
  CHECK_FALSE(bench.walk().page);
  REQUIRE(bench.state().view.notices.notices.size() == 1);
  CHECK_CONTAINS(bench.state().view.notices.notices[0].text, "\"softmax\"");
}

TEST_CASE("a page whose head or cell is not there is shown as far as it goes, and says so") {
  WINDOW_OR_SKIP(
      bench, open_lesson(1280, 900, R"({"headwise_playlist": 1, "pages": [{"step": "scores", "head": 40}]})"));
  CHECK(bench.selection().step == Step::scores);
  CHECK(bench.selection().head == 7);
  REQUIRE(bench.state().view.notices.notices.size() == 1);
  CHECK(bench.state().view.notices.notices[0].text == "Page 1: there is no head 40: 8 heads, counted from 0");
}

TEST_CASE("a page whose scenario has no trace says why, and the walk goes on") {
  WINDOW_OR_SKIP(
      bench, open_lesson(1280, 900, R"({"headwise_playlist": 1, "pages": [{"set": ["attention.num_heads=7"]},
                                       {"scenario": "random", "step": "output"}]})"));
  CHECK(bench.walk().words.caption.starts_with("This page cannot be computed: "));
  CHECK(bench.walk().page == 0);
  bench.ui->key("PageDown");
  CHECK_FALSE(bench.ui->has("notice/lasting"));
  CHECK(bench.selection().step == Step::output);
}

TEST_CASE("a scenario that is computed in the background takes its page's place when it is there") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 900, R"({"headwise_playlist": 1, "pages": [{"scenario":
    {"attention": {"embed_dim": 256, "num_heads": 16}, "inputs": {"query_length": 300}},
    "step": "softmax", "head": 13, "pin": {"tensor": "attn_weights", "index": [0, 13, 299, 299]}}]})"));
  bench.session().finish();
  bench.ui->run_frames(3);
  CHECK(bench.trace().options.num_heads == 16);
  CHECK(bench.selection().head == 13);
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 13, 299, 299}});
  CHECK(bench.state().view.notices.notices.empty());
}

TEST_CASE("pages are added from what the window shows, get captions, and are saved; their file opens again") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  const auto command = [&](CommandId id) {
    perform(bench.state(), CommandCall{id});
    bench.ui->run_frames(3);
  };
  bench.ui->key("3").key("End");
  command(CommandId::add_page);
  CHECK(bench.selection().step == Step::output);
  CHECK(bench.selection().head == 3);
  bench.ui->type("The end comes first.").key("Escape").key("C").key("Home");
  command(CommandId::add_page);
  CHECK(bench.walk().playlist.pages.size() == 2);
  CHECK(bench.walk().page == 1);
  bench.ui->click("caption/edit");
  command(CommandId::save_playlist);
  bench.ui->key("Ctrl+A").type(folder.file("mine")).key("Enter");

  const Playlist saved = read_playlist_file(folder.file("mine.json"));
  REQUIRE(saved.pages.size() == 2);
  CHECK(saved.pages[0].caption == "The end comes first.");
  CHECK(saved.pages[0].step == Step::output);
  CHECK(saved.pages[1].scenario->mask.is_causal);
  CHECK(saved == bench.walk().playlist);

  command(CommandId::remove_page);
  CHECK(bench.walk().playlist.pages.size() == 1);
  CHECK(bench.selection().step == Step::output);
  command(CommandId::remove_page);
  CHECK_FALSE(bench.walk().page);
  CHECK(bench.walk().playlist.pages.empty());
}

TEST_CASE("a claim that a change makes false gives way to another, or to the link that restores the page") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  WindowState& window = bench.state();
  const Playlist& questions = lesson_playlist("questions");
  const auto page = [&](std::string_view word) {
    for (std::size_t i = 0; i < questions.pages.size(); ++i)
      if (questions.pages[i].title.find(word) != std::string::npos) return i;
    return questions.pages.size();
  };
  const auto says = [&](const char* words) {
    return window.document.walk.words.caption.find(words) != std::string::npos;
  };
  start_walk(window, questions, {}, page("every key"));
  bench.ui->run_frames(2).key("PageDown");
  CHECK(says("PyTorch's module does the same"));
  Scenario filled = bench.scenario();
  filled.mask.value = -1e9;
  window.document.session.edit(filled, "fill");
  bench.ui->run_frames(2);
  CHECK_FALSE(says("is not a number"));
  CHECK_FALSE(says("PyTorch's module does the same"));
  CHECK(says("0.083 for every key"));
  CHECK_FALSE(bench.ui->has("caption/restore"));

  start_walk(window, questions, {}, page("over rows"));
  bench.ui->run_frames(2).key("PageDown");
  CHECK(says("add up to 1.00"));
  Scenario blocked = bench.scenario();
  blocked.mask.preset = "padding:12";
  window.document.session.edit(blocked, "pad everything");
  bench.ui->run_frames(2);
  CHECK_FALSE(says("add up to"));
  bench.ui->save_png("caption_changed").click("caption/restore").run_frames(2);
  CHECK(bench.scenario() == *questions.pages[page("over rows")].scenario);
  CHECK(says("add up to 1.00"));
  bench.ui->save_png("caption_restored");
}

TEST_CASE("the lessons of the menu are walked, and a question is found by its words") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  const PlaylistWalk& walk = bench.walk();
  bench.ui->click("menu/Teach").click("menu/lesson/first_walk").run_frames(2);
  REQUIRE(walk.page);
  CHECK(walk.playlist.title == "One word through the layer");
  CHECK(walk.path.empty());
  bench.ui->key("Escape");
  CHECK_FALSE(walk.page);

  bench.ui->key("Ctrl+Shift+P").type("bright cell important").key("Enter").run_frames(2);
  REQUIRE(walk.page);
  CHECK(walk.shown()->title == "Is a bright cell an important one?");
}

TEST_CASE("every page of every lesson fits under the stage, and leaves the stage most of the window") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  WindowState& state = bench.state();
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
      CAPTURE(playlist.pages[page].title);
      start_walk(state, playlist, {}, page);
      state.document.walk.answered = true;
      bench.ui->run_frames(2);
      const UiRect stage = bench.ui->rect("panel/stage");
      CHECK(bench.ui->rect("caption/words").max.y + 8 <= bench.ui->rect("panel/caption").max.y);
      CHECK(stage.max.y - stage.min.y > 300);
      CHECK(state.view.notices.notices.empty());
    }
  }
}

TEST_CASE("which way round maps stand is each page's own, and after the pages again as the person likes it") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  bench.ui->key("Q");
  drop(bench, lesson_file(folder));
  CHECK_FALSE(bench.selection().queries_as_columns);
  bench.ui->key("PageDown");
  CHECK(bench.selection().step == Step::scale);
  CHECK_FALSE(bench.selection().queries_as_columns);
  bench.ui->key("Escape");
  CHECK(bench.selection().queries_as_columns);
}

TEST_CASE("a page brings along what stands beside in the view compare; one made of that view keeps it") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 900, R"({ "headwise_playlist": 1, "pages": [
    { "step": "softmax", "view": "compare", "beside": "scale" }, { "step": "split_heads", "view": "memory" } ] })"));
  CHECK(bench.selection().view == StageView::compare);
  CHECK(bench.selection().compare_with == CompareWith::scale);
  bench.ui->key("PageDown");
  CHECK(bench.selection().view == StageView::memory);
  CHECK(bench.ui->has("stage/memory/right"));
  bench.ui->key("PageUp");
  bench.selection().compare_with = CompareWith::mask;
  perform(bench.state(), {CommandId::add_page});
  CHECK(bench.walk().playlist.pages[1].beside == CompareWith::mask);
}

TEST_CASE("presenting goes on with the page that was left, and a new playlist begins with its first") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  const PlaylistWalk& walk = bench.walk();
  const auto command = [&](CommandId id) {
    perform(bench.state(), CommandCall{id});
    bench.ui->run_frames(3);
  };
  for (int page = 0; page < 3; ++page) {
    command(CommandId::add_page);
    bench.ui->key("Escape").key("Right").run_until_still();
  }
  bench.ui->key("PageUp").key("PageUp");
  CHECK(walk.page == 0);
  bench.ui->key("PageDown").key("Escape");
  REQUIRE_FALSE(walk.page);
  command(CommandId::walk_playlist);
  CHECK(walk.page == 1);
  start_walk(bench.state(), lesson_playlist("first_walk"));
  bench.ui->run_until_still();
  CHECK(walk.page == 0);
}

TEST_CASE("a page that asks hides its answer until the next press, and numbers follow the trace") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 900, R"({"headwise_playlist": 1, "pages": [
    {"step": "softmax", "ask": "How many heads?", "caption": "{H}, and {sum attn_weights[0,4,0,:]}, {5."},
    {"step": "output", "caption": "b"}]})"));
  const PlaylistWalk& walk = bench.walk();
  CHECK(bench.ui->has("caption/ask"));
  CHECK_FALSE(bench.ui->has("caption/words"));
  CHECK(bench.state().view.notices.notices.size() == 1);  // the brace without a partner
  bench.state().view.notices.dismiss_all();
  bench.ui->key("PageDown");
  CHECK(walk.page == 0);
  CHECK(bench.ui->has("caption/words"));
  CHECK(walk.words.caption == "8, and 1.00, {5.");
  Scenario changed = bench.scenario();
  changed.attention.num_heads = 4;
  bench.session().edit(changed, "fewer heads");
  bench.ui->run_frames(2);
  // There is no head 4 any more: nothing is claimed of it.
  CHECK(walk.words.caption.empty());
  CHECK(walk.words.caption_changed);
  bench.ui->click("caption/restore").run_frames(2);
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
  bench.walk().answered = false;
  bench.ui->run_frames(1).click("caption/answer").run_frames(1);
  CHECK(bench.ui->has("caption/words"));
}

TEST_CASE("on a page the line at the foot speaks of what was changed there, not of the page") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  const WindowState& state = bench.state();
  bench.ui->key("C");
  CHECK(last_edit_notice(state.document).starts_with("Causal mask on"));
  start_walk(bench.state(), lesson_playlist("break_it"));
  for (std::size_t page = 0; page < 4; ++page) {
    if (page > 0) show_page(bench.state(), page);
    bench.ui->run_until_still();
    CAPTURE(page);
    CHECK(last_edit_notice(state.document).empty());
  }
  bench.ui->key("M").run_until_still();
  CHECK_CONTAINS(last_edit_notice(state.document), "muted");
  bench.ui->key("Ctrl+Z").run_until_still();
  CHECK(last_edit_notice(state.document).starts_with("Undone"));
  show_page(bench.state(), 0);
  bench.ui->run_until_still();
  CHECK(last_edit_notice(state.document).empty());
  leave_walk(bench.state());
  bench.ui->run_until_still();
  CHECK(last_edit_notice(state.document).empty());  // nothing of one's own has changed
}

TEST_CASE("a page that asks before its step says nothing of the answer, and walks into it") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 900, R"({"headwise_playlist": 1, "pages": [{"caption": "First."},
    {"set": ["mask.preset=padding:12"], "step": "softmax", "tensor": "attn_weights",
     "pin": {"tensor": "attn_weights", "index": [0, 0, 0, 0]}, "ask": "What is it?", "ask_step": "mask",
     "caption": "NaN."}]})"));
  bench.ui->key("PageDown").run_until_still();
  const WindowState& state = bench.state();
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
  start_walk(bench.state(), state.document.walk.playlist, {}, 1);
  bench.ui->run_frames(2);
  CHECK(bench.selection().step == Step::mask);
}

TEST_CASE("a page writes masks as it says, and the next one as the person likes it") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  bench.selection().compare_with = CompareWith::scale;
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
  bench.ui->key("PageUp").key("Escape");
  CHECK(bench.selection().compare_with == CompareWith::scale);
}

TEST_CASE("a brush is put down when a page is turned") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 900));
  bench.selection().step = Step::mask;
  bench.ui->run_frames(2).click("stage/brush/row");
  drop(bench,
       lesson_file(folder, R"({"headwise_playlist": 1, "pages": [{"scenario": "causal", "step": "mask"}]})"));
  const Scenario before = bench.scenario();
  bench.ui->click("stage/result");
  CHECK(bench.scenario() == before);
  CHECK(bench.selection().pinned);
}
