// What belongs to a page of one's own, and what to its reader: masks, lines, losses, colours, comparisons.
#include <vector>

#include "app/content/stage_content.h"
#include "app/session/commands.h"
#include "app/window/page_turns.h"
#include "app/window/window_commands.h"
#include "tests/app/window/lecture_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("the lines, loss and masks of a page belong to it, and *Back to this page* leads back to them") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  struct Choice {
    Step step;
    StageView view;
    std::vector<const char*> clicks;
    const char *own, *other;  // after the first click, and after the others
  };
  const Choice choices[]{
      {Step::softmax,
       StageView::tokens,
       {"stage/share/50 %", "stage/share/95 %", "stage/direction/key gets"},
       "the strongest 50 % of what each query gives",
       "the strongest 95 % of what each key gets"},
      {Step::softmax,
       StageView::gradients,
       {"stage/loss/first cell", "stage/loss/random"},
       "the loss “first cell”",
       "the loss “random”"},
  };
  for (const Choice& choice : choices) {
    CAPTURE(choice.own);
    course.show(0);
    Selection& now = course.now();
    now.step = choice.step;
    now.view = choice.view;
    now.tensor.reset();
    course.ui().run_until_still();
    course.click(choice.clicks[0]);
    perform(course.state(), CommandCall{CommandId::update_page});
    CHECK(course.page().view == choice.view);
    course.check_no_departure();
    const Selection own = now;
    for (std::size_t i = 1; i < choice.clicks.size(); ++i) course.click(choice.clicks[i]);
    course.check_departure(choice.own, choice.other);
    course.back_to_page();
    CHECK((choice.view == StageView::tokens ? now.lines == own.lines : now.loss == own.loss));
    // The next page has its own again, and the user's own place what was chosen there.
    course.show(1);
    CHECK(now.lines == TokenLines{});
    CHECK_FALSE(now.loss);
    course.check_file_of_page();
  }
  course.walk().playlist.pages[0].step = Step::mask;
  course.walk().playlist.pages[0].view = StageView::one_head;
  course.walk().playlist.pages[0].masks_as = MaskConvention::true_blocks;
  course.show(0);
  CHECK_FALSE(course.walk().departure);
  course.now().mask_convention = MaskConvention::true_keeps;
  course.check_departure("masks as “True blocks”", "masks as “True keeps”");
  course.back_to_page();
}

TEST_CASE("a page made at the mask keeps how masks are written, also where that is the usual way") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.now().step = Step::mask;
  course.key("C");
  perform(course.state(), CommandCall{CommandId::update_page});
  CHECK(course.page().masks_as == MaskConvention::added);
  course.ui().run_frames(2);
  course.now().mask_convention = MaskConvention::true_keeps;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->page == "masks as “0, −∞”");
  course.click("caption/back_to_page");
  CHECK(course.now().mask_convention == MaskConvention::added);
}

TEST_CASE("a page at the mask that does not say how masks are written has them added, not its reader's way") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().step = Step::mask;
  course.page().masks_as.reset();
  course.now().mask_convention = MaskConvention::true_keeps;
  course.show(0);
  CHECK(course.now().mask_convention == MaskConvention::added);
  course.now().mask_convention = MaskConvention::true_blocks;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->page == "masks as “0, −∞”");
  course.click("caption/back_to_page");
  CHECK(course.now().mask_convention == MaskConvention::added);
  course.show(1);  // at another step the reader has what the reader chose
  CHECK(course.now().mask_convention == MaskConvention::true_keeps);
  course.walk().from_program = true;
  course.show(0);
  CHECK(course.now().mask_convention == MaskConvention::true_keeps);
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("a comparison is told with its page's mask, however the stage's is set") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().view = StageView::compare;
  course.page().beside = CompareWith::mask;
  course.show(0);
  CHECK_FALSE(course.walk().departure);
  course.key("C");
  CHECK_FALSE(course.walk().departure);  // the changed mask is told by a line of its own
  CHECK(course.walk().words.edits == "causal mask on");
  course.now().compare_with = CompareWith::one_wide_head;
  course.check_departure("the comparison with “causal mask”", "the comparison with “one wide head”");
  course.back_to_page();
}

TEST_CASE("whether queries are columns belongs to a page of one's own, in a lesson to its reader") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.key("Q");
  course.check_departure("queries as rows", "queries as columns");
  course.click("caption/back_to_page");
  CHECK_FALSE(course.now().queries_as_columns);
  course.key("Q");
  perform(course.state(), CommandCall{CommandId::update_page});
  CHECK(course.page().queries_as_columns);
  course.check_file_of_page();
  course.show(1);
  CHECK_FALSE(course.now().queries_as_columns);
  course.show(0);
  CHECK(course.now().queries_as_columns);
  CHECK_FALSE(course.walk().departure);
  course.key("Escape");
  CHECK_FALSE(course.now().queries_as_columns);  // as it was before the pages
  course.walk().from_program = true;
  course.now().queries_as_columns = true;
  course.key("F5").show(1);
  CHECK(course.now().queries_as_columns);
}

TEST_CASE("a page made beside what is pinned says that no page keeps that, and what it compares with") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.now().view = StageView::compare;
  course.now().compare_with = CompareWith::pinned;
  course.ui().run_frames(2);
  perform(course.state(), CommandCall{CommandId::update_page});
  CHECK_FALSE(course.page().beside);
  CHECK_CONTAINS(course.state().view.notices.notices.back().text, "A page cannot keep a pinned result");
  course.ui().run_until_still();
  course.check_departure("the comparison with “one wide head”", "the comparison with “pinned”");
  course.show(1).show(0);
  CHECK(course.now().compare_with == CompareWith::one_wide_head);
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("the colour scale of all heads belongs to a page of one's own, in a lesson to its reader") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().view = StageView::all_heads;
  course.show(0);
  Selection& now = course.now();
  now.colors_by_head = true;
  course.check_departure("one colour scale for all heads", "a colour scale per head");
  course.click("caption/back_to_page");
  CHECK_FALSE(now.colors_by_head);
  now.colors_by_head = true;
  perform(course.state(), CommandCall{CommandId::update_page});
  course.ui().run_frames(2);
  CHECK(course.page().colors_by_head);
  CHECK_FALSE(course.walk().departure);
  course.check_file_of_page();
  course.show(1);
  CHECK_FALSE(now.colors_by_head);
  now.step = Step::output;  // where small maps of all heads are above its own
  course.page().step = Step::output;
  course.ui().run_frames(2);
  REQUIRE_FALSE(course.walk().departure);
  now.colors_by_head = true;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->stage == "a colour scale per head");
  course.show(0);
  CHECK(now.colors_by_head);
  course.walk().from_program = true;
  course.show(1);
  now.colors_by_head = true;
  course.check_no_departure();
}

TEST_CASE("a page pins the pair in the map that it shows, wherever the pair was pinned") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  for (const Step step : {Step::scores, Step::scale, Step::mask, Step::softmax}) {
    CAPTURE(static_cast<int>(step));
    Selection& now = course.now();
    now.step = step;
    now.view = StageView::all_heads;
    now.tensor.reset();
    now.pinned = CellRef{{TensorId::scores}, {0, 4, 8, 7}};
    course.ui().run_frames(2);
    perform(course.state(), CommandCall{CommandId::update_page});
    const auto picture = shown_picture(course.bench.trace(), now);
    REQUIRE(picture);
    CHECK(course.page().pin->tensor == TensorName{picture->result});
    CHECK(course.page().pin->index == std::vector<Index>{0, 4, 8, 7});
  }
  Selection& now = course.now();  // an operand stays where it is seen
  now.view = StageView::one_head;
  now.pinned = CellRef{{TensorId::masked_scores}, {0, 4, 8, 7}};
  course.ui().run_frames(2);
  perform(course.state(), CommandCall{CommandId::update_page});
  CHECK(course.page().pin->tensor == TensorName{TensorId::masked_scores});
}

TEST_CASE("queries as columns are told of a map with appended keys, too") {
  BENCH_OR_SKIP(Course, course);
  Scenario appended = *course.page().scenario;
  appended.attention.add_zero_attn = true;
  course.page().scenario = std::make_shared<const Scenario>(appended);
  course.show(0);
  REQUIRE_FALSE(course.walk().departure);
  course.now().queries_as_columns = true;
  course.check_departure("queries as rows", "queries as columns");
}

TEST_CASE("a page that is added beside what is pinned says what it compares with, wherever it is added") {
  BENCH_OR_SKIP(Course, course);
  const auto add = [&] {
    perform(course.state(), CommandCall{CommandId::pin_scenario});
    course.now().view = StageView::compare;
    course.now().compare_with = CompareWith::pinned;
    course.ui().run_frames(2);
    perform(course.state(), CommandCall{CommandId::add_page});
    CHECK_CONTAINS(course.state().view.notices.notices.back().text, "A page cannot keep a pinned result");
    course.ui().run_until_still();
    CHECK(course.now().compare_with == CompareWith::one_wide_head);
  };
  add();  // to the pages that are shown, to those that were left, and as the first of a playlist
  leave_walk(course.state());
  course.ui().run_until_still();
  add();
  leave_walk(course.state());
  course.walk().playlist = {};
  course.ui().run_until_still();
  add();
}

TEST_CASE("a mask that a page has and its model's layer has not is told once it is switched off") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900, preset_scenario("welcome")));
  WindowState& state = bench.state();
  const PlaylistWalk& walk = state.document.walk;
  const auto toggle = [&](CommandId id) {
    perform(state, CommandCall{id});
    bench.ui->run_until_still();
  };
  for (const bool updates : {false, true}) {
    CAPTURE(updates);
    if (!updates) toggle(CommandId::add_page);
    toggle(CommandId::toggle_causal);
    if (!updates) CHECK(walk.words.edits == "causal mask on");
    toggle(updates ? CommandId::update_page : CommandId::add_page);
    REQUIRE(bench.scenario().mask.is_causal);
    CHECK_FALSE(walk.words.edits);
    toggle(CommandId::toggle_causal);
    CHECK(walk.words.edits == "causal mask off");
    CHECK(bench.ui->has("caption/restore"));  // while it is written, too
    toggle(CommandId::restore_page);
    CHECK(bench.scenario().mask.is_causal);
    CHECK_FALSE(walk.words.edits);
    toggle(CommandId::toggle_causal);
  }
}
