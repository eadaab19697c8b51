// What belongs to a page's place, how the stage is told to show something else, and the way back.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "app/session/commands.h"
#include "app/window/page_place.h"
#include "app/window/window_commands.h"
#include "tests/app/window/lecture_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE(
    "the lines, the loss and the masks of a page belong to it, and *Back to this page* leads back to them") {
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
    Selection& now = course.state().view.selection;
    now.step = choice.step;
    now.view = choice.view;
    now.tensor.reset();
    course.ui().run_until_still();
    course.ui().click(choice.clicks[0]);
    course.ui().run_until_still();
    perform(course.state(), CommandCall{CommandId::update_page});
    CHECK(course.page().view == choice.view);
    course.ui().run_frames(2);
    CHECK_FALSE(course.walk().departure);
    const Selection own = now;
    for (std::size_t i = 1; i < choice.clicks.size(); ++i) {
      course.ui().click(choice.clicks[i]);
      course.ui().run_until_still();
    }
    REQUIRE(course.walk().departure);
    CHECK(course.walk().departure->page == choice.own);
    CHECK(course.walk().departure->stage == choice.other);
    course.ui().click("caption/back_to_page");
    course.ui().run_until_still();
    CHECK_FALSE(course.walk().departure);
    CHECK((choice.view == StageView::tokens ? now.lines == own.lines : now.loss == own.loss));
    // The next page has its own again, and the user's own place what was chosen there.
    course.show(1);
    CHECK(now.lines == TokenLines{});
    CHECK_FALSE(now.loss);
    CHECK(playlist_from_json(playlist_to_json(course.walk().playlist), "t").pages[0] ==
          course.walk().playlist.pages[0]);
  }
  course.walk().playlist.pages[0].step = Step::mask;
  course.walk().playlist.pages[0].view = StageView::one_head;
  course.walk().playlist.pages[0].masks_as = MaskConvention::true_blocks;
  course.show(0);
  CHECK_FALSE(course.walk().departure);
  course.state().view.selection.mask_convention = MaskConvention::true_keeps;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about masks as “True blocks”; the stage shows masks as “True keeps”.");
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("*Back to this page* leads back to its first query, and a dragged arrow ends with its page") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().view = StageView::elementwise;
  course.show(0);
  course.ui().click("stage/query/forward");
  course.ui().run_until_still();
  REQUIRE(course.walk().departure);
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK_FALSE(course.walk().departure);
  course.page().view = StageView::query_key_plane;
  course.page().head = 1;
  course.show(0);
  const UiRect arrow = course.ui().rect("qk/tip");
  const ImVec2 tip{0.5f * (arrow.min.x + arrow.max.x), 0.5f * (arrow.min.y + arrow.max.y)};
  course.ui().drag(tip.x, tip.y, tip.x + 60, tip.y - 40);
  course.ui().run_until_still();
  CHECK(course.ui().has("stage/plane/reset"));
  course.show(1);
  course.show(0);
  CHECK_FALSE(course.ui().has("stage/plane/reset"));
}

TEST_CASE(
    "another pinned cell than the page's is told with both, to a class even in a lesson, and a moved query") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().pin = CellRef{{TensorId::attn_weights}, {0, 4, 3, 1}};
  course.show(0);
  CHECK_FALSE(course.walk().departure);
  course.state().view.selection.pinned->index[3] = 2;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about attn_weights[0,4,3,1] (n't → animal); "
        "the stage shows attn_weights[0,4,3,2] (n't → did).");
  course.walk().from_program = true;
  course.ui().run_frames(2);
  CHECK_FALSE(course.walk().departure);
  course.key("F5");
  CHECK(course.walk().departure);
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK_FALSE(course.walk().departure);
  CHECK(course.now().pinned == course.page().pin);
  course.key("Escape");
  course.walk().from_program = false;
  course.page().pin.reset();
  course.page().view = StageView::query_key_plane;
  course.page().head = 1;
  course.show(0);
  course.key("Shift+Right");
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->stage == "a query that was moved");
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("a caption tells the gradients that its page shows, of the page's own loss") {
  for (const char* scenario : {"hand_made", "welcome"}) {
    CAPTURE(scenario);
    const std::string pages = fmt::format(R"({{ "headwise_playlist": 1, "pages": [
      {{ "scenario": "{}", "step": "softmax", "view": "gradients", "loss": "random", "head": 2,
        "caption": "The largest is {{max grad.attn_weights[0,2,:,:]}}." }}, {{ "caption": "End." }} ] }})",
                                          scenario);
    BENCH_OR_SKIP(LectureBench, bench, pages.c_str());
    bench.bench.window->state().document.gradients.finish();
    bench.ui().run_until_still();
    const std::string told = bench.walk().words.caption;
    CHECK(told.starts_with("The largest is "));
    CHECK_LACKS(told, "–");
    CHECK_FALSE(bench.ui().has("caption/changed"));
    bench.ui().click("stage/loss/first cell");
    bench.bench.window->state().document.gradients.finish();
    bench.ui().run_until_still();
    CHECK(bench.walk().words.caption != told);
    CHECK(bench.walk().departure);
  }
}

TEST_CASE("turning the pages of a model is nothing that undo could take back") {
  BENCH_OR_SKIP(LectureBench, bench, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "welcome", "step": "softmax", "caption": "One." }, { "caption": "Two." },
    { "set": ["mask.is_causal=true"], "caption": "Three." } ] })");
  for (const char* key : {"F5", "End", "PageUp", "PageUp", "Ctrl+Z"}) bench.key(key);
  CHECK(bench.walk().page == 0);
  CHECK_FALSE(bench.bench.scenario().mask.is_causal);
  CHECK_FALSE(bench.ui().has("caption/changed"));
}

TEST_CASE("both lines on what the stage shows have room, however short the caption is") {
  BENCH_OR_SKIP(Course, course);
  course.state().view.selection.view = StageView::all_heads;
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
  course.state().view.selection.pinned->index[3] = 2;
  course.ui().run_frames(2);
  CHECK(course.says("THIS CELL: PINNED · ESC UNPINS"));
}

TEST_CASE("a page made at the mask keeps how masks are written, also where that is the usual way") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.state().view.selection.step = Step::mask;
  course.key("C");
  perform(course.state(), CommandCall{CommandId::update_page});
  CHECK(course.page().masks_as == MaskConvention::added);
  course.ui().run_frames(2);
  course.state().view.selection.mask_convention = MaskConvention::true_keeps;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->page == "masks as “0, −∞”");
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK(course.now().mask_convention == MaskConvention::added);
}

TEST_CASE(
    "a page at the mask that does not say how masks are written has them added, not as its reader has") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().step = Step::mask;
  course.page().masks_as.reset();
  course.state().view.selection.mask_convention = MaskConvention::true_keeps;
  course.show(0);
  CHECK(course.now().mask_convention == MaskConvention::added);
  course.state().view.selection.mask_convention = MaskConvention::true_blocks;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->page == "masks as “0, −∞”");
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
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
  course.state().view.selection.compare_with = CompareWith::one_wide_head;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about the comparison with “causal mask”; "
        "the stage shows the comparison with “one wide head”.");
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("whether queries are columns belongs to a page of one's own, in a lesson to its reader") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.key("Q");
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about queries as rows; the stage shows queries as columns.");
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK_FALSE(course.now().queries_as_columns);
  course.key("Q");
  perform(course.state(), CommandCall{CommandId::update_page});
  CHECK(course.page().queries_as_columns);
  CHECK(playlist_from_json(playlist_to_json(course.walk().playlist), "t").pages[0] ==
        course.walk().playlist.pages[0]);
  course.show(1);
  CHECK_FALSE(course.now().queries_as_columns);
  course.show(0);
  CHECK(course.now().queries_as_columns);
  CHECK_FALSE(course.walk().departure);
  course.key("Escape");
  CHECK_FALSE(course.now().queries_as_columns);  // as it was before the pages
  course.walk().from_program = true;
  course.state().view.selection.queries_as_columns = true;
  course.key("F5");
  course.show(1);
  CHECK(course.now().queries_as_columns);
}

TEST_CASE("a page made beside what is pinned says that no page keeps that, and what it compares with") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.state().view.selection.view = StageView::compare;
  course.state().view.selection.compare_with = CompareWith::pinned;
  course.ui().run_frames(2);
  perform(course.state(), CommandCall{CommandId::update_page});
  CHECK_FALSE(course.page().beside);
  CHECK_CONTAINS(course.state().view.notices.notices.back().text, "A page cannot keep a pinned result");
  course.ui().run_until_still();
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about the comparison with “one wide head”; "
        "the stage shows the comparison with “pinned”.");
  course.show(1);
  course.show(0);
  CHECK(course.now().compare_with == CompareWith::one_wide_head);
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE(
    "another head is told where its columns are outlined, and where only what is joined is one head's") {
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
    REQUIRE(course.walk().departure);
    CHECK(course.walk().departure->page == "head 4");
    CHECK(course.walk().departure->stage == place.stage);
    course.ui().click("caption/back_to_page");
    course.ui().run_until_still();
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
    course.state().view.selection.step = Step::mask;
    course.ui().run_frames(2);
    CHECK_FALSE(course.walk().departure);
    course.state().view.selection.view = StageView::one_head;
    course.ui().run_frames(2);
    REQUIRE(course.walk().departure);
    CHECK(course.walk().departure->page.starts_with("the view "));
    CHECK(course.walk().departure->stage == "Mask");
  }
}

TEST_CASE("the colour scale of all heads belongs to a page of one's own, in a lesson to its reader") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().view = StageView::all_heads;
  course.show(0);
  Selection& now = course.state().view.selection;
  now.colors_by_head = true;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about one colour scale for all heads; the stage shows a colour scale per head.");
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK_FALSE(now.colors_by_head);
  now.colors_by_head = true;
  perform(course.state(), CommandCall{CommandId::update_page});
  course.ui().run_frames(2);
  CHECK(course.page().colors_by_head);
  CHECK_FALSE(course.walk().departure);
  CHECK(playlist_from_json(playlist_to_json(course.walk().playlist), "t").pages[0] ==
        course.walk().playlist.pages[0]);
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
  course.ui().run_frames(2);
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE("a page pins the pair in the map that it shows, wherever the pair was pinned") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  for (const Step step : {Step::scores, Step::scale, Step::mask, Step::softmax}) {
    CAPTURE(static_cast<int>(step));
    Selection& now = course.state().view.selection;
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
  Selection& now = course.state().view.selection;  // an operand stays where it is seen
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
  course.state().view.selection.queries_as_columns = true;
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about queries as rows; the stage shows queries as columns.");
}

TEST_CASE("a page that is added beside what is pinned says what it compares with, wherever it is added") {
  BENCH_OR_SKIP(Course, course);
  const auto add = [&] {
    perform(course.state(), CommandCall{CommandId::pin_scenario});
    course.state().view.selection.view = StageView::compare;
    course.state().view.selection.compare_with = CompareWith::pinned;
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
  WindowState& state = bench.window->state();
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
    course.state().view.selection = selection_within(course.now(), course.bench.trace());
    course.ui().run_until_still();
    CHECK(course.now().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 8, 7}});
    CHECK_FALSE(course.walk().departure);
    CHECK(course.says("You changed this page: read as one wide head."));
    course.state().view.selection.pinned->index[2] = 3;
    course.ui().run_frames(2);
    REQUIRE(course.walk().departure);
    CHECK(course.walk().departure->page.starts_with("query"));
    course.ui().click("caption/back_to_page");
    course.ui().run_until_still();
    CHECK(course.now().pinned == CellRef{{TensorId::attn_weights}, {0, 0, 8, 7}});
    CHECK_FALSE(course.walk().departure);
  }
}

TEST_CASE("a page's pin is told in the words of its own sentence, however the sentence was changed") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().scenario = std::make_shared<const Scenario>(preset_scenario("welcome"));
  course.page().pin = CellRef{{TensorId::attn_weights}, {0, 4, 9, 2}};
  course.show(0);
  course.state().view.selection.pinned.reset();
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
  course.show(0);
  course.key("F5");
  CHECK_FALSE(course.walk().departure);
  course.key("L");
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about its cell under the spotlight; the stage shows its cell without the spotlight.");
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
    course.ui().click("caption/edit");
    course.ui().run_until_still();
    CHECK(course.now().pinned == course.page().pin);
    CHECK_FALSE(course.walk().departure);
    if (ends[0] == 'F') {
      course.key(ends);
    } else {
      course.ui().click(ends);
      course.ui().run_until_still();
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
    course.state().view.selection.head = 2;
    course.ui().run_frames(2);
    REQUIRE(course.walk().departure);
    CHECK(departure_words(*course.walk().departure) ==
          "This page is about head 4; the stage shows head 2 marked.");
    course.walk().from_program = true;
    course.ui().run_frames(2);
    CHECK_FALSE(course.walk().departure);
    course.walk().from_program = false;
    course.ui().run_frames(2);
    course.ui().click("caption/back_to_page");
    course.ui().run_until_still();
    CHECK(course.now().head == 4);
  }
}

TEST_CASE(
    "Rows and Prediction begin with the query that the prediction tells most about, and another is told") {
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
    bench.state().view.selection.pinned = CellRef{{TensorId::attn_weights}, {0, bench.now().head, first, 1}};
    bench.ui().run_until_still();
    CHECK_FALSE(bench.walk().departure);
    bench.state().view.selection.pinned->index[2] = first - 1;
    bench.ui().run_until_still();
    REQUIRE(bench.walk().departure);
    const auto& tokens = bench.bench.session().inputs().labels.query;
    CHECK(bench.walk().departure->page == fmt::format("query “{}”", tokens[static_cast<std::size_t>(first)]));
    bench.ui().click("caption/back_to_page");
    bench.ui().run_until_still();
    CHECK_FALSE(bench.walk().departure);
  }
}

TEST_CASE("a cell that is marked in the memory of a page that pins none is told, and leads back") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.page().step = Step::weighted_sum;
  course.page().view = StageView::memory;
  course.page().pin.reset();
  course.show(0);
  REQUIRE_FALSE(course.walk().departure);
  course.state().view.selection.pinned = CellRef{{TensorId::head_output}, {0, 0, 4, 5}};
  course.ui().run_until_still();
  REQUIRE(course.walk().departure);
  CHECK(course.walk().departure->page == "no particular cell");
  CHECK(course.walk().departure->stage.starts_with("head_output[0,0,4,5]"));
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK_FALSE(course.walk().departure);
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
  course.ui().click("caption/edit");
  course.ui().run_until_still();
  CHECK_FALSE(course.ui().has("caption/elsewhere"));
  const float high = course.ui().rect("panel/caption").max.y - course.ui().rect("panel/caption").min.y;
  course.state().view.selection.step = Step::mask;
  course.ui().run_until_still();
  CHECK(course.says("This page is about Softmax; the stage shows Mask."));
  CHECK(course.ui().rect("panel/caption").max.y - course.ui().rect("panel/caption").min.y > high);
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK(course.now().step == Step::softmax);
  CHECK(course.walk().edits_words);
}

TEST_CASE("a step that was stopped on its way is told, and a class sees it whole") {
  BENCH_OR_SKIP(Course, course, 1600, 1000);
  course.state().view.motion = {0.4, false};
  course.ui().run_frames(2);
  REQUIRE(course.walk().departure);
  CHECK(departure_words(*course.walk().departure) ==
        "This page is about the whole step; the stage shows it halfway.");
  course.ui().click("caption/back_to_page");
  course.ui().run_until_still();
  CHECK(course.state().view.motion.progress == 1.0);
  course.state().view.motion = {0.4, false};
  course.key("F5");
  CHECK(course.state().view.motion.progress == 1.0);
  CHECK_FALSE(course.walk().departure);
}

TEST_CASE(
    "undo leads back to every edit of the page before, also to one that makes another page's scenario") {
  BENCH_OR_SKIP(LectureBench, bench, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "welcome", "step": "softmax", "head": 7, "caption": "One." }, { "caption": "Two." },
    { "set": ["mask.is_causal=true"], "caption": "Three." } ] })");
  for (const char* key : {"C", "PageDown", "Ctrl+Z"}) bench.key(key);
  CHECK(bench.walk().page == 0);
  CHECK(bench.bench.scenario().mask.is_causal);
  CHECK(bench.walk().words.edits == "causal mask on");
  for (const char* key : {"M", "PageDown", "Ctrl+Z"}) bench.key(key);
  CHECK(bench.walk().page == 0);
  CHECK(bench.walk().words.edits == "causal mask on, mute head 7");
  for (const char* key : {"Ctrl+Z", "C", "C", "PageDown", "Ctrl+Z"}) bench.key(key);
  CHECK(bench.walk().page == 1);
}

TEST_CASE("a mouse that rests where a page comes does not take the place of its pin, until it moves") {
  for (const StageView view : {StageView::head_rows, StageView::tokens, StageView::all_heads}) {
    CAPTURE(static_cast<int>(view));
    BENCH_OR_SKIP(Course, course, 1600, 1000);
    course.ui().rasterise(true);
    course.walk().playlist.pages[1].view = view;
    course.key("F5");
    course.show(1);
    const UiRect stage = course.ui().rect("panel/stage");
    const auto seen_from = [&](float x, float y) {
      course.show(0);
      course.ui().move_to(x, y);
      course.ui().run_until_still();
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
    course.ui().move_to(x, y);
    course.ui().move_to(x + 3, y);
    course.ui().run_frames(2);
    CHECK(course.now().hovered);
  }
}
