// What an audience sees while a lecturer moves about:
// never a page's words as if they were about another stage.
#include <doctest/doctest.h>

#include "app/lesson/page_place.h"
#include "app/session/commands.h"
#include "app/window/window_commands.h"
#include "tests/app/window/answers_bench.h"
#include "tests/app/window/lecture_bench.h"

using namespace headwise;

TEST_CASE("beside another head than the page's, its words are preceded by both heads and the way back") {
  for (const bool presentation : {false, true}) {
    CAPTURE(presentation);
    BENCH_OR_SKIP(Course, course);
    if (presentation) course.key("F5");
    CHECK_FALSE(course.ui().has("caption/elsewhere"));
    course.key("7");
    course.check_departure("head 4", "head 7");
    course.ui().check_shown({"caption/elsewhere", "caption/words"});
    CHECK(course.ui().rect("caption/elsewhere").min.y < course.ui().rect("caption/words").min.y);
    CHECK(course.ui().rect("caption/back_to_page").max.y <= course.ui().rect("caption/words").min.y);
    CHECK(course.ui().rect("caption/words").max.y <= course.ui().rect("panel/caption").max.y);
    PlaylistPage& page = course.walk().playlist.pages[0];
    for (int i = 0; i < 12; ++i) page.caption += " Its weights lie one word back.";
    course.ui().run_frames(2);
    CHECK(course.ui().rect("caption/words").max.y <= course.ui().rect("panel/caption").max.y);
    page.caption = "In head 4.";
    course.ui().run_frames(2).save_png(presentation ? "other_head_hall" : "other_head");
    course.click("caption/back_to_page");
    CHECK(course.now().head == 4);
    CHECK_FALSE(course.walk().departure);
    CHECK_FALSE(course.ui().has("caption/elsewhere"));
  }
}

TEST_CASE("a view of all heads is about the one it marks, if any, and a step before the split about none") {
  BENCH_OR_SKIP(Course, course);
  PlaylistPage& page = course.walk().playlist.pages[0];
  const auto departs = [&](auto change) {
    course.show(0);
    change(course.state().view.selection);
    course.ui().run_frames(2);
    return course.walk().departure ? course.walk().departure->stage : "";
  };
  const auto other_head = [](Selection& now) { now.head = 2; };
  CHECK(departs(other_head) == "head 2");
  page.view = StageView::tokens;
  CHECK(departs(other_head) == "head 2");
  page.view = StageView::head_rows;
  page.pin = CellRef{{TensorId::attn_weights}, {0, 4, 3, 1}};
  CHECK(departs([](Selection& now) { now.pinned->index[3] = 2; }) == "attn_weights[0,4,3,2] (n't → did)");
  CHECK(departs([](Selection& now) { now.pinned->index[2] = 5; }) == "query “the”");
  CHECK(departs([](Selection& now) { now.pinned.reset(); }) == "query “The”");
  page.view = StageView::elementwise;
  CHECK(departs([](Selection& now) { now.pinned.reset(); }) == "query “The”");
  page.pin.reset();
  page.view = StageView::all_heads;
  CHECK(departs(other_head) == "head 2 marked");
  page.head = 0;
  CHECK(departs(other_head).empty());
  page.view = StageView::one_head;
  page.step = Step::inputs;
  CHECK(departs(other_head).empty());
  page.step = Step::project;
  const auto k = [](Selection& now) { now.tensor = TensorId::k; };
  CHECK(departs(k) == "k");
  page.tensor = TensorId::k;
  CHECK(departs(k).empty());
  CHECK(departs([](Selection& now) { now.step = Step::output; }) == "Output");
}

TEST_CASE("what cannot be read in braces is told before a class sees it, and again when it is saved") {
  BENCH_OR_SKIP(Course, course, 1280, 900);
  course.ui().click("caption/edit");
  course.walk().playlist.pages[0].caption = "It is {max scores[0,}.";
  course.walk().changed = true;
  for (const char* key : {"F5", "F11", "PageDown"}) {
    CAPTURE(key);
    course.walk().words_problem.clear();
    perform(course.state(), CommandCall{key == std::string("F5")    ? CommandId::walk_playlist
                                        : key == std::string("F11") ? CommandId::full_screen
                                                                    : CommandId::next_page});
    course.ui().run_until_still();
    CHECK(course.walk().edits_words);
    CHECK_FALSE(course.walk().words_problem.empty());
    CHECK(course.walk().page == 0);
    CHECK_FALSE(course.state().view.full_screen);
    CHECK(course.ui().has("error"));
    CHECK(course.tells("Page 1 has an error: " + course.walk().words_problem +
                       ". Correct it before you leave the page."));
  }
  perform(course.state(), CommandCall{CommandId::leave_playlist});
  CHECK(course.walk().page == 0);
  course.ui().key("Ctrl+S").run_frames(3);
  CHECK(read_playlist_file(course.folder.file("lesson.json")).pages[0].caption == "It is {max scores[0,}.");
  CHECK(course.tells("Page 1 has an error: " + course.walk().words_problem +
                     ". Correct it before you leave the page."));
  course.walk().playlist.pages[0].caption = "It is {max scores}.";
  perform(course.state(), CommandCall{CommandId::walk_playlist});
  CHECK_FALSE(course.walk().edits_words);
  CHECK(course.state().view.full_screen);
}

TEST_CASE("after a cell was looked at with the keys, the next page's keys turn pages again") {
  BENCH_OR_SKIP(Course, course);
  course.key("F5");
  for (const char* key : {"Right", "Space"}) {
    CAPTURE(key);
    course.show(0).key("Enter").key("Right").key("Down");
    REQUIRE(course.walk().page == 0);
    course.key("PageDown");
    REQUIRE(course.walk().page == 1);
    course.key(key);
    CHECK(course.walk().page == 2);
    CHECK_FALSE(course.now().pinned);
  }
}

TEST_CASE("past the last page nothing covers it on the full screen, and the line below its words tells") {
  BENCH_OR_SKIP(Course, course);
  course.key("F5").key("End").key("PageDown");
  CHECK(course.walk().page == 3);
  CHECK(course.state().view.notices.notices.empty());
  CHECK(course.says("4 of 4, the last page · Esc leaves full screen"));
  course.key("Escape").key("PageDown");
  CHECK(course.tells("This is the last page. Esc returns to your own scenario."));
}

TEST_CASE("on the full screen a link to another page says how to go back, and that leads back") {
  BENCH_OR_SKIP(Asked, asked);
  UiDriver& ui = asked.ui();
  for (const bool presentation : {false, true}) {
    CAPTURE(presentation);
    if (presentation) ui.key("F5");
    ui.run_until_still();
    if (asked.walk().asking()) ui.key("1");
    ui.run_until_still().click("caption/see").run_until_still();
    REQUIRE(asked.walk().page == 1);
    if (presentation) {
      CHECK(ui.has("says/2 of 2 · Backspace leads back to page 1"));
      ui.key("Backspace");
    } else {
      ui.click("caption/follow_back");
    }
    ui.run_until_still();
    CHECK(asked.walk().page == 0);
    CHECK_FALSE(asked.walk().asking());
    CHECK_FALSE(asked.walk().followed_from);
    ui.key("Backspace");
    CHECK(asked.state().view.notices.notices.back().text ==
          "No link was followed to this place: there is nothing to go back to.");
  }
}

TEST_CASE("beside a changed page stands what changed and the way back, in a hall and on one's own pages") {
  for (const bool presentation : {false, true}) {
    CAPTURE(presentation);
    BENCH_OR_SKIP(Course, course);
    if (presentation) course.key("F5");
    CHECK_FALSE(course.ui().has("caption/changed"));
    course.key("C");
    CHECK(course.says("You changed this page: causal mask on."));
    CHECK(course.ui().rect("caption/restore").max.y <= course.ui().rect("caption/words").min.y);
    CHECK(course.ui().rect("caption/words").max.y <= course.ui().rect("panel/caption").max.y);
    course.ui().save_png(presentation ? "changed_hall" : "changed");
    course.key("M");
    CHECK(course.says("You changed this page: causal mask on, mute head 4."));
    course.key("7");
    course.ui().save_png(presentation ? "changed_elsewhere_hall" : "changed_elsewhere");
    course.ui().check_shown({"caption/elsewhere", "caption/changed"});
    CHECK(course.ui().rect("caption/words").max.y <= course.ui().rect("panel/caption").max.y);
    course.key("4").key("C");
    CHECK(course.says("You changed this page: mute head 4."));
    course.click("caption/restore");
    CHECK_FALSE(course.ui().has("caption/changed"));
    CHECK(course.bench.scenario() == *course.page().scenario);
    course.key("C").key("PageDown");
    CHECK_FALSE(course.ui().has("caption/changed"));
    if (presentation) continue;
    course.key("C");
    perform(course.state(), CommandCall{CommandId::update_page});
    course.ui().run_until_still();
    CHECK_FALSE(course.ui().has("caption/changed"));  // it is the page's own now
    course.walk().from_program = true;
    course.key("C");
    CHECK_FALSE(course.ui().has("caption/changed"));  // lessons ask for edits
    course.key("F11");
    CHECK(course.says("You changed this page: causal mask off."));
  }
}

TEST_CASE("a query chosen in Rows is kept by Update and Add page, and another page begins with its own") {
  for (const StageView view : {StageView::head_rows, StageView::elementwise, StageView::query_key_plane}) {
    CAPTURE(static_cast<int>(view));
    BENCH_OR_SKIP(Course, course, 1600, 1000);
    course.now().view = view;
    course.now().head = 5;  // head 4 has no direction
    course.ui().run_until_still();
    perform(course.state(), CommandCall{CommandId::update_page});
    course.ui().run_until_still();
    CHECK_FALSE(course.page().pin);  // its first query needs none
    for (int i = 0; i < 3; ++i) course.ui().click("stage/query/forward");
    course.ui().run_until_still();
    const std::vector<std::string> chosen = course.ui().said("query ");
    perform(course.state(), CommandCall{CommandId::update_page});
    course.ui().run_until_still();
    CHECK(course.tells(
        "Page 1 now shows what the window shows. “Put page back” in the Teach menu undoes this."));
    REQUIRE(course.page().pin);
    CHECK(course.page().pin->index[1] == 5);
    CHECK_FALSE(course.walk().departure);
    course.key("PageDown").key("PageUp");
    CHECK(course.ui().said("query ") == chosen);
    course.key("PageDown");
    course.now().view = view;
    course.now().head = 5;
    course.now().pinned.reset();
    course.ui().run_until_still().click("stage/query/forward");
    course.show(3);
    course.now().view = view;
    course.ui().run_until_still();
    CHECK(course.ui().said("query ") != chosen);
    perform(course.state(), CommandCall{CommandId::update_page});
    CHECK_FALSE(course.page().pin);
  }
}

TEST_CASE("a page made of what was changed on a page of a model is its own, and nothing on it has changed") {
  BENCH_OR_SKIP(LectureBench, bench, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "welcome", "step": "softmax", "caption": "A model." }, { "caption": "Next." } ] })");
  bench.key("C");
  CHECK(bench.ui().has("caption/changed"));
  perform(bench.state(), CommandCall{CommandId::add_page});
  bench.walk().edits_words = false;
  bench.ui().run_until_still();
  CHECK_FALSE(bench.ui().has("caption/changed"));
  bench.key("PageUp").key("PageDown");
  CHECK(bench.walk().page == 1);
  CHECK_FALSE(bench.ui().has("caption/changed"));
}

TEST_CASE("beside a page that pins no cell, another query than the view's first is told; not in a lesson") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().view = StageView::elementwise;
  course.page().head = 5;
  course.show(0);
  CHECK_FALSE(course.walk().departure);
  course.click("stage/query/forward");
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->page == "query “The”");
  course.walk().from_program = true;
  course.check_no_departure();
}

TEST_CASE("who leaves a lecture is told from which page, and that F5 returns there") {
  BENCH_OR_SKIP(Course, course);
  course.key("F5").key("PageDown").key("Escape").key("F");
  REQUIRE(course.state().view.stage_only);
  course.key("Escape");
  CHECK_FALSE(course.state().view.stage_only);
  REQUIRE(course.walk().page == 1);
  course.key("Escape");
  CHECK_FALSE(course.walk().page);
  CHECK(course.tells("You left “A course”, page 2 of 4 · F5 returns"));
  course.key("F5");
  CHECK(course.walk().page == 1);
  CHECK(course.state().view.full_screen);
}

TEST_CASE("what is written of a page can be scrolled to with the mouse wheel, beside the buttons that stay") {
  BENCH_OR_SKIP(Course, course);
  course.show(2);
  course.page().answer = PageAnswer{};
  course.page().answer->kind = AnswerKind::choice;
  course.page().answer->options.resize(6);
  course.ui().click("caption/edit").run_frames(3);
  const UiRect panel = course.ui().rect("panel/caption"), done = course.ui().rect("caption/edit");
  REQUIRE(course.ui().rect("caption/text").max.y > panel.max.y);
  course.ui().move_to(panel.min.x + 600, panel.min.y + 130);
  for (int i = 0; i < 8; ++i) course.ui().wheel(-1);
  course.ui().run_frames(2).save_png("choice_editor_scrolled");
  CHECK(course.ui().rect("caption/text").max.y <= panel.max.y);
  CHECK(course.ui().rect("caption/edit").min.y == done.min.y);
}

TEST_CASE("where the headings of q∘k have no room they are short, not cut") {
  BENCH_OR_SKIP(Course, course, 1280, 720);
  course.now().view = StageView::elementwise;
  course.ui().run_until_still();
  CHECK(course.says("q ∘ k"));
  course.key("F");
  CHECK(course.says("q ∘ k: elementwise product"));
}
