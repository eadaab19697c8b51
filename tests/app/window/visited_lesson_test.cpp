// What happens to one's own pages while a lesson is visited from them, and what undo does among pages.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "app/lesson/page_text.h"
#include "app/window/page_edits.h"
#include "app/window/page_turns.h"
#include "app/window/playlist_making.h"
#include "app/window/window_commands.h"
#include "tests/app/window/lecture_bench.h"

using namespace headwise;

namespace {

// A lecture with an answer given on its first page, a second page, and a third that shows the causal preset.
constexpr const char* lecture_pages = R"({ "headwise_playlist": 1, "title": "Mine", "pages": [
      { "title": "Who", "scenario": "hand_made", "step": "softmax", "ask": "Where?", "caption": "There.",
        "answer": {"kind": "choice", "options": [{"text": "one back", "is": "argmax attn_weights[0,0,8,:] = 7"},
          {"text": "at itself", "is": "argmax attn_weights[0,0,8,:] = 8"}]} },
      { "title": "Same", "step": "scale", "caption": "Divided." },
      { "title": "Causal", "scenario": "causal", "step": "mask", "caption": "Not ahead." } ] })";
struct Lecture : LectureBench {
  Lecture() : LectureBench(lecture_pages, 1280, 900) {
    if (bench.ui) key("2");
  }
  void visit() {
    PanelAction action;
    action.lesson = LessonPage{"questions", 5};
    take_action(state(), action, false);
    bench.ui->run_until_still();
  }
};

}  // namespace

TEST_CASE("a lesson that is visited from a lecture leads back to its page, with the answers given") {
  for (const bool by_key : {false, true}) {
    CAPTURE(by_key);
    BENCH_OR_SKIP(Lecture, lecture);
    UiDriver& ui = lecture.ui();
    ui.key("PageDown");
    REQUIRE(lecture.walk().page == 1);
    const Playlist mine = lecture.walk().playlist;
    const std::string path = lecture.walk().path;
    lecture.visit();
    CHECK(lecture.walk().from_program);
    CHECK(lecture.walk().page == 5);
    lecture.visit();  // from a lesson to another page of a lesson: still one way back
    if (by_key)
      ui.key("Escape");
    else
      ui.click("caption/leave");
    ui.run_until_still();
    CHECK(lecture.walk().playlist == mine);
    CHECK(lecture.walk().path == path);
    CHECK_FALSE(lecture.walk().from_program);
    CHECK(lecture.walk().page == 1);
    ui.key("PageUp");
    CHECK(lecture.walk().given.option == 1);
    CHECK(lecture.walk().answered);
    ui.click("caption/leave");
    CHECK_FALSE(lecture.walk().page);
    CHECK(lecture.bench.scenario() == preset_scenario("hand_made"));
  }
}

TEST_CASE("from a lesson visited in a hall, the key at its foot leads back to the page, still in the hall") {
  BENCH_OR_SKIP(Lecture, lecture);
  UiDriver& ui = lecture.ui();
  ui.key("PageDown").key("F11").run_until_still();
  REQUIRE(lecture.state().view.full_screen);
  lecture.visit();
  const std::string lesson_page = fmt::format("says/6 of {} · ", lecture.walk().playlist.pages.size());
  CHECK((ui.has(lesson_page + "Page Down goes on, F5 leads back to your pages") ||
         ui.has(lesson_page + "F5 leads back to your pages")));
  ui.key("F5").run_until_still();
  CHECK(lecture.state().view.full_screen);
  CHECK_FALSE(lecture.walk().from_program);
  CHECK(lecture.walk().page == 1);
  CHECK((ui.has("says/2 of 3 · Page Down goes on, Esc leaves full screen") ||
         ui.has("says/2 of 3 · Page Down goes on")));
}

TEST_CASE("unsaved pages stay so through a visited lesson, and are kept when the program ends in it") {
  BENCH_OR_SKIP(Lecture, lecture);
  lecture.state().document.kept_folder = lecture.folder.file("kept");
  duplicate_page(lecture.state());
  lecture.ui().run_until_still();
  REQUIRE(lecture.walk().playlist.pages.size() == 4);
  const Playlist mine = lecture.walk().playlist;
  lecture.visit();
  keep_all_unsaved(lecture.state().document);
  step_out(lecture.state());
  lecture.ui().run_until_still();
  CHECK(lecture.walk().playlist == mine);
  CHECK(lecture.walk().changed);
  leave_walk(lecture.state());
  reopen_playlist(lecture.state());
  CHECK(lecture.walk().playlist.pages.size() == 4);
}

TEST_CASE("undo puts back a page that was just removed") {
  BENCH_OR_SKIP(Lecture, lecture);
  UiDriver& ui = lecture.ui();
  const Playlist mine = lecture.walk().playlist;
  ui.key("PageDown").click("filmstrip/remove").run_until_still();
  REQUIRE(lecture.walk().playlist.pages.size() == 2);
  CHECK(undo_label(lecture.state().document) == "remove the page");
  ui.key("Ctrl+Z").run_until_still();
  CHECK(lecture.walk().playlist.pages == mine.pages);
  CHECK(lecture.walk().page == 1);
  CHECK(lecture.state().view.notices.notices.back().text == "Page 2 is back.");
}

TEST_CASE("undo on an unchanged page does not show another page's scenario under its words") {
  BENCH_OR_SKIP(Lecture, lecture);
  UiDriver& ui = lecture.ui();
  ui.key("PageDown").key("PageDown").run_until_still();
  REQUIRE(lecture.bench.scenario() == preset_scenario("causal"));
  CHECK(undo_label(lecture.state().document).empty());
  ui.key("Ctrl+Z").run_until_still();
  CHECK(lecture.bench.scenario() == preset_scenario("causal"));
  // What is changed on it can be undone.
  ui.key("C");
  CHECK_FALSE(undo_label(lecture.state().document).empty());
  ui.key("Ctrl+Z").run_until_still();
  CHECK(lecture.bench.scenario() == preset_scenario("causal"));
}

TEST_CASE("the way back to a number ends where another page begins") {
  BENCH_OR_SKIP(Lecture, lecture);
  UiDriver& ui = lecture.ui();
  Selection& selection = lecture.state().view.selection;
  selection.pinned = CellRef{{TensorId::attn_weights}, {0, 0, 8, 7}};
  ui.run_frames(2).click("inspector/from/0");
  CHECK_FALSE(lecture.state().view.trail.empty());
  ui.key("PageDown");
  CHECK(lecture.state().view.trail.empty());
}
