// What a page that asks tells an audience: no answer before it is given,
// and no control that does not work there.
#include <doctest/doctest.h>

#include "app/lesson/answer_kinds.h"
#include "app/lesson/page_place.h"
#include "app/session/commands.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_commands.h"
#include "tests/app/window/lecture_bench.h"

using namespace headwise;

TEST_CASE("an answer is shown at the page's own head, wherever the stage was when it was given") {
  BENCH_OR_SKIP(Course, course);
  course.show(2).key("Down");
  CHECK(course.now().head == 5);
  course.ui().check_shown({"caption/elsewhere", "caption/number"});
  course.key("PageDown");
  CHECK_FALSE(course.walk().asking());
  CHECK(course.now().head == 4);
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("a page that asks for a head does not tell its own by saying which one it is about") {
  BENCH_OR_SKIP(Course, course);
  PlaylistPage& page = course.walk().playlist.pages[2];
  page.answer = PageAnswer{};
  page.answer->kind = AnswerKind::head;
  page.answer->is = "4";
  course.show(2);
  course.now().head = 1;
  course.ui().run_frames(2);
  CHECK(course.walk().asking());
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("a question that is come to from behind is still asked, unless its answer was shown before") {
  BENCH_OR_SKIP(Course, course);
  course.key("F5").key("End").key("PageUp");
  REQUIRE(course.walk().page == 2);
  CHECK(course.walk().asking());
  course.key("PageDown");
  CHECK_FALSE(course.walk().asking());
  course.key("PageDown").key("PageUp");
  CHECK(course.walk().page == 2);
  CHECK_FALSE(course.walk().asking());
  course.key("PageUp").key("PageDown");
  CHECK(course.walk().asking());  // nobody has answered it
}

TEST_CASE("a page that asks for a cell tells how to click one only where the map is") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  PlaylistPage& page = course.walk().playlist.pages[2];
  page.answer = PageAnswer{};
  page.answer->kind = AnswerKind::cell;
  page.answer->tensor = TensorId::attn_weights;
  page.answer->row = "8";
  course.show(2);
  REQUIRE(course.walk().asking());
  const auto note = [&] { return listed_pieces(course.walk()).front().text; };
  CHECK(note() == "click a cell of attn_weights; by keys: Enter, the arrows, Enter");
  for (const StageView view : {StageView::all_heads, StageView::tokens, StageView::head_rows}) {
    course.now().view = view;
    course.ui().run_until_still();
    CHECK(note() == "go back to the page’s own place to click a cell of attn_weights");
    CHECK(course.ui().has("caption/back_to_page"));
  }
  course.click("caption/back_to_page");
  CHECK(note() == "click a cell of attn_weights; by keys: Enter, the arrows, Enter");
  course.now().step = Step::scale;
  course.ui().run_until_still();
  CHECK(note() == "go back to the page’s own place to click a cell of attn_weights");
}

TEST_CASE("whichever key goes back to a question whose answer was shown finds it shown") {
  BENCH_OR_SKIP(Course, course);
  std::swap(course.walk().playlist.pages[0], course.walk().playlist.pages[2]);
  course.show(0).key("F5").key("PageDown");
  REQUIRE_FALSE(course.walk().asking());
  course.key("End").key("Home");
  CHECK(course.walk().page == 0);
  CHECK_FALSE(course.walk().asking());
  course.key("End").key("Escape").click("filmstrip/page/0");
  CHECK_FALSE(course.walk().asking());
}

TEST_CASE("on the full screen what is typed at a number that was answered chooses no head and no speed") {
  BENCH_OR_SKIP(Course, course);
  course.key("F5").show(2);
  course.ui().key("0").type("0.5");
  course.key("Enter");
  REQUIRE_FALSE(course.walk().asking());
  const float speed = course.state().view.settings.motion_speed;
  for (const char* key : {"0", ".", "5"}) course.key(key);
  CHECK(course.now().head == 4);
  CHECK(course.state().view.settings.motion_speed == speed);
  CHECK(course.tells("The answer is already shown. “Answer again” asks the question again."));
  course.key("Escape").key("5");
  CHECK(course.now().head == 5);  // in the window digits are the keys of heads again
}

TEST_CASE("a veil over the weights hides what a head is known to do") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  const auto named = [&] { return !course.ui().said("head 4: ").empty(); };
  course.key("F5");
  CHECK(named());
  course.show(2);
  CHECK_FALSE(named());
  course.key("PageDown");
  CHECK(named());
}

TEST_CASE("a question for a head is asked where all are shown; asked of one, that one's number is hidden") {
  for (const bool presentation : {false, true}) {
    CAPTURE(presentation);
    BENCH_OR_SKIP(Course, course, 1600, 1000);
    course.show(1);
    PlaylistPage& page = course.page();
    page.ask = "Which head?";
    page.pin.reset();
    page.answer = PageAnswer{};
    page.answer->kind = AnswerKind::head;
    page.answer->is = "argmax attn_weights[0,:,8,7]";
    if (presentation) course.key("F5");
    const auto tells = [&] {
      StagePictures pictures(StagePictures::usual_width, StagePictures::usual_height, Theme::light,
                             presentation ? StagePictures::Look::presentation : StagePictures::Look::window);
      const std::string drawn = pictures.svg(course.state());
      return drawn.find("[0,4]") != std::string::npos || drawn.find("head 4") != std::string::npos;
    };
    course.show(1);  // as a file may ask
    CHECK(course.walk().asking());
    CHECK(course.now().view == StageView::one_head);
    CHECK_FALSE(tells());
    CHECK(course.ui().has("caption/point") == !presentation);  // the small maps are no part of the full screen
    course.ui().save_png(presentation ? "asks_one_head_hall" : "asks_one_head");
    ask_at_all_heads(page);
    course.show(1);
    CHECK(course.now().view == StageView::all_heads);
    CHECK(course.now().head == 0);  // the setup shows the head of the page
    CHECK(course.ui().has("caption/point"));
    course.key("Down");
    CHECK(course.now().head == 0);
    CHECK(course.tells("This page asks for a head: its digit, or its button beside the question, answers."));
    course.click("stage/map/7");
    CHECK_FALSE(course.walk().asking());
    CHECK(course.state().view.notices.notices.empty());
    CHECK(course.walk().given.head == 7);
    CHECK(course.now().view == StageView::one_head);
    CHECK(course.now().head == 4);
    CHECK(tells());
  }
}

TEST_CASE("the sheet of all heads shows nothing while a page asks about them") {
  BENCH_OR_SKIP(Course, course);
  course.show(2).key("R");
  CHECK(course.ui().has("heads/hidden"));
  course.key("Escape").key("PageDown").key("R");
  CHECK_FALSE(course.ui().has("heads/hidden"));
}

TEST_CASE("while a page hides the weights, no sheet compares them and no command copies them") {
  BENCH_OR_SKIP(Course, course);
  course.show(2).key("I");
  CHECK(course.ui().has("comparison/hidden"));
  course.key("Escape");
  perform(course.state(), CommandCall{CommandId::copy_table});
  CHECK(course.tells("The page hides this map until its question is answered."));
  CHECK(course.state().clipboard.empty());
  course.key("PageDown");
  perform(course.state(), CommandCall{CommandId::copy_table});
  CHECK_FALSE(course.state().clipboard.empty());
  course.key("I");
  CHECK_FALSE(course.ui().has("comparison/hidden"));
}

TEST_CASE("a cell that a page asks for is not pinned while it asks") {
  BENCH_OR_SKIP(Course, course);
  PlaylistPage& page = course.walk().playlist.pages[1];
  page.ask = "Which key?";
  page.answer = PageAnswer{};
  page.answer->kind = AnswerKind::cell;
  page.answer->tensor = TensorId::attn_weights;
  page.answer->row = "3";
  page.answer->column = "argmax attn_weights[0,4,3,:]";
  course.show(1);
  CHECK(course.walk().asking());
  CHECK_FALSE(course.now().pinned);
  course.key("PageDown");
  CHECK(course.now().pinned == page.pin);
}

TEST_CASE("an answer that was only shown can be asked again, on the full screen too") {
  for (const bool presentation : {false, true}) {
    CAPTURE(presentation);
    BENCH_OR_SKIP(Course, course);
    if (presentation) course.key("F5");
    course.show(2);
    CHECK_FALSE(course.ui().has("caption/take_back"));
    course.key("PageDown");
    REQUIRE_FALSE(course.walk().asking());
    course.ui().save_png(presentation ? "answer_again_hall" : "answer_again");
    CHECK(course.ui().rect("caption/take_back").max.y <= course.ui().rect("panel/caption").max.y - 10);
    course.click("caption/take_back");
    CHECK(course.walk().asking());
  }
}

TEST_CASE("what cannot be updated while it asks says by which key it is shown") {
  BENCH_OR_SKIP(Course, course);
  course.show(2).key("Ctrl+U");
  CHECK(course.tells("The page still hides its answer. Show it (Page Down), then update the page."));
}

TEST_CASE("in a hall a unit stands beside its number's field; a tensor without heads has no head's title") {
  BENCH_OR_SKIP(Course, course);
  course.walk().playlist.pages[2].answer->unit = "of the weight";
  course.key("F5").show(2);
  course.ui().save_png("unit_hall");
  const UiRect field = course.ui().rect("caption/number"), unit = course.ui().rect("caption/point");
  CHECK(unit.min.x >= field.max.x);
  CHECK(unit.min.y < field.max.y);
  course.show(0);
  CHECK(course.ui().has("stage/hall_head"));
  course.page().step = Step::output;
  course.show(0);
  CHECK_FALSE(course.ui().has("stage/hall_head"));
}

TEST_CASE("a shape is typed with its letters, none of which is a command while the page asks for one") {
  BENCH_OR_SKIP(Course, course);
  course.show(2);
  course.page().answer = PageAnswer{};
  course.page().answer->kind = AnswerKind::shape;
  course.page().answer->is = "shape attn_weights";
  const Scenario before = course.bench.scenario();
  course.key("F5").show(2);
  course.ui().push(KeyChanged{'N', true});  // as a keyboard sends it
  course.ui().push(TextEntered{U'N'}).push(KeyChanged{'N', false}).run_frames(3).type(" H L S");
  CHECK_FALSE(course.state().dialogs.training.open);
  CHECK(course.bench.scenario() == before);
  CHECK(course.walk().given.typed == "N H L S");
  course.key("Enter");
  CHECK(answer_verdict(course.walk()) == "You said (1,8,12,12): right.");
  CHECK_FALSE(course.walk().asking());
}

TEST_CASE("a shape's first bracket is typed into its field, with whichever keys it is typed") {
  for (const bool presentation : {false, true}) {
    CAPTURE(presentation);
    BENCH_OR_SKIP(Course, course);
    if (presentation) course.key("F5");
    course.walk().playlist.pages[2].answer->kind = AnswerKind::shape;
    course.walk().playlist.pages[2].answer->is = "shape attn_weights";
    course.show(2);
    course.ui().type("(1,8,9,9)");
    CHECK(course.walk().given.typed == "(1,8,9,9)");
    course.key("Enter");
    CHECK_FALSE(course.walk().asking());
    CHECK(course.walk().given.sizes == std::vector<Index>{1, 8, 9, 9});
    course.show(0);
    course.ui().type("(");
    CHECK(course.walk().given.typed.empty());
  }
}

TEST_CASE("Page Up turns back from the field of an answer, whatever stands in it") {
  for (const AnswerKind kind : {AnswerKind::number, AnswerKind::shape})
    for (const char* typed : {"2-", "2"}) {
      CAPTURE(typed);
      BENCH_OR_SKIP(Course, course);
      course.key("F5");
      course.walk().playlist.pages[2].answer->kind = kind;
      course.show(2);
      course.ui().key("2").type(typed);
      REQUIRE(course.walk().given.typed == typed);
      course.key("PageUp");
      CHECK(course.walk().page == 1);
      course.key("Right");
      CHECK(course.walk().page == 2);  // the keys are those of the pages again
      CHECK(course.walk().asking());
    }
}
