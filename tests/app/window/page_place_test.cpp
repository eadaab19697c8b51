// How the stage is told to show another place than the page's, and the way back.
#include <fmt/format.h>

#include <string>

#include "app/lesson/page_place.h"
#include "tests/app/window/lecture_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("*Back to this page* leads back to its first query, and a dragged arrow ends with its page") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().view = StageView::elementwise;
  course.show(0).click("stage/query/forward");
  REQUIRE(course.walk().departure);
  course.back_to_page();
  course.page().view = StageView::query_key_plane;
  course.page().head = 1;
  course.show(0);
  const UiRect arrow = course.ui().rect("qk/tip");
  const ImVec2 tip{0.5f * (arrow.min.x + arrow.max.x), 0.5f * (arrow.min.y + arrow.max.y)};
  course.ui().drag(tip.x, tip.y, tip.x + 60, tip.y - 40).run_until_still();
  CHECK(course.ui().has("stage/plane/reset"));
  course.show(1).show(0);
  CHECK_FALSE(course.ui().has("stage/plane/reset"));
}

TEST_CASE("another pin than the page's is told with both, to a class even in a lesson, and a moved query") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().pin = CellRef{{TensorId::attn_weights}, {0, 4, 3, 1}};
  course.show(0);
  CHECK_FALSE(course.walk().departure);
  course.now().pinned->index[3] = 2;
  course.check_departure("attn_weights[0,4,3,1] (n't → animal)", "attn_weights[0,4,3,2] (n't → did)");
  course.walk().from_program = true;
  course.check_no_departure();
  course.key("F5");
  CHECK(course.walk().departure);
  course.back_to_page();
  CHECK(course.now().pinned == course.page().pin);
  course.key("Escape");
  course.walk().from_program = false;
  course.page().pin.reset();
  course.page().view = StageView::query_key_plane;
  course.page().head = 1;
  course.show(0).key("Shift+Right");
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->stage == "a query that was moved");
  course.back_to_page();
}

TEST_CASE("a caption tells the gradients that its page shows, of the page's own loss") {
  for (const char* scenario : {"hand_made", "welcome"}) {
    CAPTURE(scenario);
    const std::string pages = fmt::format(R"({{ "headwise_playlist": 1, "pages": [
      {{ "scenario": "{}", "step": "softmax", "view": "gradients", "loss": "random", "head": 2,
        "caption": "The largest is {{max grad.attn_weights[0,2,:,:]}}." }}, {{ "caption": "End." }} ] }})",
                                          scenario);
    BENCH_OR_SKIP(LectureBench, bench, pages.c_str());
    bench.bench.state().document.gradients.finish();
    bench.ui().run_until_still();
    const std::string told = bench.walk().words.caption;
    CHECK(told.starts_with("The largest is "));
    CHECK_LACKS(told, "–");
    CHECK_FALSE(bench.ui().has("caption/changed"));
    bench.ui().click("stage/loss/first cell");
    bench.bench.state().document.gradients.finish();
    bench.ui().run_until_still();
    CHECK(bench.walk().words.caption != told);
    CHECK(bench.walk().departure);
  }
}

TEST_CASE("both lines on what the stage shows have room, however short the caption is") {
  BENCH_OR_SKIP(Course, course);
  course.now().view = StageView::all_heads;
  course.key("C");
  const UiRect panel = course.ui().rect("panel/caption");
  for (const char* control : {"caption/back_to_page", "caption/restore"})
    CHECK(course.ui().rect(control).max.y <= panel.max.y - 4);
}

TEST_CASE("the inspector does not say that Escape unpins a page's pin: it leaves the page") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().pin = CellRef{{TensorId::attn_weights}, {0, 4, 3, 1}};
  course.show(0);
  CHECK(course.says("THIS CELL: PINNED BY THE PAGE"));
  course.now().pinned->index[3] = 2;
  course.ui().run_frames(2);
  CHECK(course.says("THIS CELL: PINNED · ESC UNPINS"));
}

TEST_CASE("another head is told where its columns are outlined, and where only the joined is one head's") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  struct Place {
    Step step;
    StageView view;
    const char* stage;
  };
  for (const Place& place : {Place{Step::project, StageView::one_head, "head 3 marked"},
                             Place{Step::concat, StageView::one_head, "head 3"},
                             Place{Step::output, StageView::one_head, "head 3 marked"},
                             Place{Step::project, StageView::gradients, "head 3 marked"},
                             Place{Step::concat, StageView::compare, "head 3 marked"},
                             Place{Step::concat, StageView::all_heads, "head 3 marked"}}) {
    CAPTURE(static_cast<int>(place.step));
    CAPTURE(static_cast<int>(place.view));
    course.page().step = place.step;
    course.page().view = place.view;
    course.page().pin.reset();
    course.show(0);
    REQUIRE_FALSE(course.walk().departure);
    course.key("3");
    course.check_departure("head 4", place.stage);
    course.click("caption/back_to_page");
    CHECK(course.now().head == 4);
    CHECK_FALSE(course.walk().departure);
  }
}

TEST_CASE("a view that is the same at each step is no other place at another step") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  for (const StageView view :
       {StageView::tokens, StageView::head_rows, StageView::elementwise, StageView::query_key_plane}) {
    CAPTURE(static_cast<int>(view));
    course.page().view = view;
    course.show(0);
    course.now().step = Step::mask;
    course.check_no_departure();
    course.now().view = StageView::one_head;
    course.ui().run_frames(2);
    REQUIRE(course.walk().departure);
    CHECK(course.walk().departure->page.starts_with("the view "));
    CHECK(course.walk().departure->stage == "Mask");
  }
}

TEST_CASE("with fewer heads the pin of a page stays at its query, and another query is told") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  for (const StageView view : {StageView::head_rows, StageView::query_key_plane}) {
    CAPTURE(static_cast<int>(view));
    course.page().view = view;
    course.page().pin = CellRef{{TensorId::attn_weights}, {0, 4, 8, 7}};
    course.show(0);
    Scenario other = course.bench.scenario();
    other.attention.num_heads = 1;
    other.head_gain.reset();
    course.state().document.session.edit(other, "read as one wide head");
    course.now() = selection_within(course.now(), course.bench.trace());
    course.ui().run_until_still();
    CHECK(course.now().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 8, 7}});
    CHECK_FALSE(course.walk().departure);
    CHECK(course.says("You changed this page: read as one wide head."));
    course.now().pinned->index[2] = 3;
    course.ui().run_frames(2);
    REQUIRE(course.walk().departure);
    CHECK(course.walk().departure->page.starts_with("query"));
    course.click("caption/back_to_page");
    CHECK(course.now().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 8, 7}});
    CHECK_FALSE(course.walk().departure);
  }
}

TEST_CASE("a page's pin is told in the words of its own sentence, however the sentence was changed") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().scenario = std::make_shared<const Scenario>(preset_scenario("welcome"));
  course.page().pin = CellRef{{TensorId::attn_weights}, {0, 4, 9, 2}};
  course.show(0);
  course.now().pinned.reset();
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->page == "attn_weights[0,4,9,2] (it → animal)");
  Scenario other = course.bench.scenario();
  other.inputs.text = "but " + other.inputs.text;
  course.state().document.session.edit(other, "text");
  course.ui().run_until_still();
  CHECK(course.walk().departure->page == "attn_weights[0,4,9,2] (it → animal)");
}

TEST_CASE("a spotlight that was switched off is told") {
  BENCH_OR_SKIP(Course, course);
  course.page().pin = CellRef{{TensorId::attn_weights}, {0, 4, 8, 7}};
  course.page().spotlight = true;
  course.show(0).key("F5");
  CHECK_FALSE(course.walk().departure);
  course.key("L");
  course.check_departure("its cell under the spotlight", "its cell without the spotlight");
  course.key("L");
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("a page that asks is written at its own place, and asks again once it was written") {
  BENCH_OR_SKIP(Course, course, 1280, 900);
  course.walk().playlist.pages[2].view = StageView::elementwise;
  course.walk().playlist.pages[2].step = Step::scores;
  course.show(2);
  REQUIRE(course.walk().asking());
  for (const char* ends : {"caption/edit", "F5", "F11"}) {
    CAPTURE(ends);
    course.click("caption/edit");
    CHECK(course.now().pinned == course.page().pin);
    CHECK_FALSE(course.walk().departure);
    if (ends[0] == 'F') {
      course.key(ends);
    } else {
      course.click(ends);
    }
    CHECK_FALSE(course.walk().edits_words);
    CHECK(course.walk().asking());
    CHECK_FALSE(course.now().pinned);
    if (ends[0] == 'F') course.key("Escape");
  }
}

TEST_CASE("where all heads are shown another marked one is told, and a lesson leaves them to its reader") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  for (const StageView view : {StageView::head_rows, StageView::all_heads}) {
    CAPTURE(static_cast<int>(view));
    course.page().view = view;
    course.show(0);
    CHECK_FALSE(course.walk().departure);
    course.now().head = 2;
    course.check_departure("head 4", "head 2 marked");
    course.walk().from_program = true;
    course.check_no_departure();
    course.walk().from_program = false;
    course.ui().run_frames(2).click("caption/back_to_page").run_until_still();
    CHECK(course.now().head == 4);
  }
}

TEST_CASE("Rows and Prediction begin with the query that predictions tell most about; another is told") {
  BENCH_OR_SKIP(LectureBench, bench, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "welcome", "step": "softmax", "view": "head_rows", "caption": "Rows." },
    { "view": "prediction", "caption": "Words." } ] })",
                1600, 1000);
  for (const std::size_t page : {0U, 1U}) {
    CAPTURE(page);
    bench.show(page);
    const Index first = first_query(bench.state().view.stage_choices, bench.now().view);
    CHECK(first > 0);
    CHECK_FALSE(bench.walk().departure);
    bench.now().pinned = CellRef{{TensorId::attn_weights}, {0, bench.now().head, first, 1}};
    bench.ui().run_until_still();
    CHECK_FALSE(bench.walk().departure);
    bench.now().pinned->index[2] = first - 1;
    bench.ui().run_until_still();
    REQUIRE(bench.walk().departure);
    const auto& tokens = bench.bench.session().inputs().labels.query;
    CHECK(bench.walk().departure->page == fmt::format("query “{}”", tokens[static_cast<std::size_t>(first)]));
    bench.back_to_page();
  }
}

TEST_CASE("a cell that is marked in the memory of a page that pins none is told, and leads back") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().step = Step::weighted_sum;
  course.page().view = StageView::memory;
  course.page().pin.reset();
  course.show(0);
  REQUIRE_FALSE(course.walk().departure);
  course.now().pinned = CellRef{{TensorId::head_output}, {0, 0, 4, 5}};
  course.ui().run_until_still();
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->page == "no particular cell");
  CHECK(course.walk().departure->stage.starts_with("head_output[0,0,4,5]"));
  course.back_to_page();
}

TEST_CASE("no way back is offered to a head that a changed scenario has no more: the change is told") {
  BENCH_OR_SKIP(LectureBench, bench, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "hand_made", "step": "softmax", "view": "head_rows", "head": 7,
      "pin": { "tensor": "attn_weights", "index": [0, 7, 3, 1] }, "caption": "Seven." } ] })",
                1600, 1000);
  Scenario few = bench.bench.scenario();
  few.attention.num_heads = 4;
  bench.state().document.session.edit(few, "num_heads 8 → 4");
  bench.ui().run_until_still();
  CHECK_MESSAGE(!bench.walk().departure, departure_words(*bench.walk().departure));
  CHECK(bench.walk().words.edits == "num_heads 8 → 4");
  CHECK(bench.ui().has("caption/restore"));
}

TEST_CASE("while a page is written the stage's other place is told, too, and leads back") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.click("caption/edit");
  CHECK_FALSE(course.ui().has("caption/elsewhere"));
  const float high = course.ui().rect("panel/caption").max.y - course.ui().rect("panel/caption").min.y;
  course.now().step = Step::mask;
  course.ui().run_until_still();
  CHECK(course.says("This page is about Softmax; the stage shows Mask."));
  CHECK(course.ui().rect("panel/caption").max.y - course.ui().rect("panel/caption").min.y > high);
  course.click("caption/back_to_page");
  CHECK(course.now().step == Step::softmax);
  CHECK(course.walk().edits_words);
}

TEST_CASE("a step that was stopped on its way is told, and a class sees it whole") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.state().view.motion = {0.4, false};
  course.check_departure("the whole step", "it halfway");
  course.click("caption/back_to_page");
  CHECK(course.state().view.motion.progress == 1.0);
  course.state().view.motion = {0.4, false};
  course.key("F5");
  CHECK(course.state().view.motion.progress == 1.0);
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("a mouse that rests where a page comes does not take the place of its pin, until it moves") {
  for (const StageView view : {StageView::head_rows, StageView::tokens, StageView::all_heads}) {
    CAPTURE(static_cast<int>(view));
    BENCH_OR_SKIP(Course, course, 1600, 1000);
    course.ui().rasterise(true);
    course.walk().playlist.pages[1].view = view;
    course.key("F5").show(1);
    const UiRect stage = course.ui().rect("panel/stage");
    const auto seen_from = [&](float x, float y) {
      course.show(0);
      course.ui().move_to(x, y).run_until_still();
      course.key("PageDown");
      course.state().view.steps_shown = 0.0;  // they come where the mouse has moved
      course.ui().run_frames(2);
      REQUIRE(course.now().pinned);
      CHECK_FALSE(course.now().hovered);
      return course.ui().pixels().rgba;
    };
    const float y = 0.5f * (stage.min.y + stage.max.y);
    const float x = view == StageView::tokens ? course.ui().rect("stage/keys").min.x + 20
                                              : 0.6f * stage.min.x + 0.4f * stage.max.x;
    CHECK((seen_from(x, y) == seen_from(stage.min.x + 4, stage.max.y - 4)));
    course.ui().move_to(x, y).move_to(x + 3, y).run_frames(2);
    CHECK(course.now().hovered);
  }
}
