// Writing a page that takes an answer.
#include <algorithm>

#include "app/session/answer_check.h"
#include "app/window/page_turns.h"
#include "tests/app/window/answers_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

// A playlist of one page with a pinned weight, and a question that is being written.
struct Writing : LectureBench {
  Writing()
      : LectureBench(R"({"headwise_playlist": 1, "pages": [{"scenario": "hand_made", "step": "softmax",
      "pin": {"tensor": "attn_weights", "index": [0, 0, 8, 7]}, "caption": "So much."}]})",
                     1280, 900) {
    if (!bench.ui) return;
    state().view.settings.reduce_motion = true;
    ui().click("caption/edit").click("caption/question").type("How much?");
  }
  // One of none, number, choice, shape, head, cell, tensor, weights, mask
  void choose(int kind) {
    UiDriver& ui = *bench.ui;
    const auto chosen = [&] { return page().answer ? 1 + static_cast<int>(page().answer->kind) : 0; };
    const float width = ui.rect("answer/kind").max.x - ui.rect("answer/kind").min.x;
    for (float x = 4; x < width && chosen() != kind; x += 12) {
      const UiRect rect = ui.rect("answer/kind");  // the panel grows with what is asked
      ui.click(rect.min.x + x, (rect.min.y + rect.max.y) / 2).run_frames(2);
    }
  }
  void retype(const char* field, const char* text) { bench.ui->click(field).key("Ctrl+A").type(text); }
};

}  // namespace

TEST_CASE("a page takes an answer in a few presses: its key begins with the pinned cell and is tried first") {
  BENCH_OR_SKIP(Writing, writing);
  UiDriver& ui = writing.ui();
  CHECK_FALSE(writing.page().answer);
  for (int kind = 1; kind <= 8; ++kind) {
    CAPTURE(kind);
    writing.choose(kind);
    REQUIRE(writing.page().answer);
    CHECK(static_cast<int>(writing.page().answer->kind) == kind - 1);
    for (const std::string& name : ui.names())
      if (name.starts_with("answer/")) CHECK(ui.rect(name).max.y <= ui.rect("panel/caption").max.y);
    CHECK(ui.rect("caption/text").max.y <= ui.rect("panel/caption").max.y);
    ui.click("caption/edit");
    CHECK(writing.walk().words_problem == "");  // each is right at once
    CHECK_FALSE(writing.walk().edits_words);
    ui.click("caption/edit");
  }
  writing.choose(1);
  CHECK(writing.page().answer->is == "attn_weights[0,0,8,7]");
  writing.retype("answer/is", "0.9");
  ui.click("caption/edit");
  CHECK(writing.walk().edits_words);
  CHECK_CONTAINS(writing.walk().words_problem, "a constant");
  writing.retype("answer/is", "attn_weights[0,0,99,7]");
  ui.click("caption/edit");
  CHECK_CONTAINS(writing.walk().words_problem, "lacks a number");
  writing.choose(0);
  CHECK_FALSE(writing.page().answer);
  ui.click("caption/edit");
  CHECK_FALSE(writing.walk().edits_words);
}

TEST_CASE("a row of weights that is asked for is hidden until it is drawn, as a mask is") {
  BENCH_OR_SKIP(Writing, writing);
  writing.choose(1);
  CHECK_FALSE(writing.page().veil);
  writing.choose(7);
  CHECK(writing.page().veil);
  writing.ui().click("caption/edit").run_until_still();
  CHECK(writing.walk().asking());
  CHECK(writing.ui().has("stage/veil"));
}

TEST_CASE("the options of a choice are written, added and removed, and the page then asks") {
  BENCH_OR_SKIP(Writing, writing);
  UiDriver& ui = writing.ui();
  writing.choose(2);
  // Of the pinned row: its strongest keys, in the order of the text, with whatever word stands there; one of
  // them is right.
  const std::vector<AnswerOption> offered = writing.page().answer->options;
  REQUIRE(offered.size() == 3);
  CHECK(offered[1].text == "{key 7}");
  CHECK(offered[1].is == "argmax attn_weights[0,0,8,:] = 7");
  ui.click("answer/add");
  REQUIRE(writing.page().answer->options.size() == 4);
  CHECK(writing.page().answer->options[3].is.starts_with("argmax attn_weights[0,0,8,:] = "));
  CHECK(std::ranges::find(offered, writing.page().answer->options[3].text, &AnswerOption::text) ==
        offered.end());
  ui.click("answer/4/remove").click("answer/3/remove");
  writing.retype("answer/1/text", "most of it");
  writing.retype("answer/1/is", "attn_weights[0,0,8,7] > 0.5");
  writing.retype("answer/2/text", "a little");
  writing.retype("answer/2/is", "attn_weights[0,0,8,7] < 0.1");
  ui.click("answer/add");
  CHECK(writing.page().answer->options.size() == 3);
  CHECK(writing.page().answer->options[2].is.empty());
  writing.retype("answer/2/why", "Look at {attn_weights[0,0,8,7]}.");
  ui.click("caption/edit");
  CHECK(writing.walk().words_problem == "an option has no text");
  writing.retype("answer/3/text", "some");
  writing.retype("answer/3/is", "attn_weights[0,0,8,7] > 0.8");
  ui.click("caption/edit");
  CHECK(writing.walk().edits_words);
  CHECK_CONTAINS(writing.walk().words_problem, "options 1 and 3 both hold");
  ui.click("answer/3/remove");
  CHECK(writing.page().answer->options.size() == 2);
  writing.retype("answer/2/see", "No such page");
  ui.click("caption/edit");
  CHECK(writing.walk().words_problem ==
        "there is no page with the title “No such page”, here or in a built-in lesson");
  writing.retype("answer/2/see", "Must a row sum to 1?");
  ui.click("caption/edit");
  REQUIRE_FALSE(writing.walk().edits_words);
  const Playlist& playlist = writing.walk().playlist;
  CHECK(playlist_from_json(playlist_to_json(playlist), "again") == playlist);
  show_page(writing.state(), 0);
  ui.run_until_still().key("2");
  CHECK(answer_verdict(writing.walk()) ==
        "You chose 2, “a little”: wrong. Look at 0.901. Answer: 1, “most of it”.");
  CHECK(ui.has("caption/see"));
}

TEST_CASE("a pin that was left in another head than the page's does not make the key") {
  BENCH_OR_SKIP(Writing, writing);
  writing.walk().playlist.pages[0].head = 3;
  writing.choose(5);
  CHECK(writing.page().answer->column == "argmax attn_weights[0,3,0,:]");
}

TEST_CASE("a key is proposed for what the stage shows, with the pinned cell only where that is in it") {
  BENCH_OR_SKIP(Writing, writing);
  PlaylistPage& page = writing.walk().playlist.pages[0];
  page.step = writing.now().step = Step::output;
  writing.ui().run_frames(3);
  writing.choose(1);
  CHECK(writing.page().answer->is == "max output");
  writing.choose(5);
  CHECK(writing.page().answer->tensor == TensorId::output);
  writing.choose(2);
  CHECK(writing.page().answer->options[0].is == "max output > 0");
  page.step = writing.now().step = Step::weighted_sum;  // its operand
  writing.ui().run_frames(3);
  writing.choose(1);
  CHECK(writing.page().answer->is == "attn_weights[0,0,8,7]");
}

TEST_CASE("a question for a head, written at one head, asks where all are shown as soon as it is written") {
  BENCH_OR_SKIP(Writing, writing);
  writing.choose(4);
  CHECK(writing.page().ask_view == StageView::all_heads);
  writing.ui().click("caption/edit").run_until_still();
  CHECK(writing.walk().asking());
  CHECK(writing.now().view == StageView::all_heads);
  writing.ui().click("caption/edit");
  writing.choose(3);
  CHECK_FALSE(writing.page().ask_view);
}

TEST_CASE("an option that leads to a page that is no longer there offers no link to it") {
  BENCH_OR_SKIP(Writing, writing);
  writing.choose(2);
  for (AnswerOption& option : writing.walk().playlist.pages[0].answer->options)
    option.see = "Must a row sum to 1?";
  writing.ui().click("caption/edit");
  for (const bool there : {true, false}) {
    CAPTURE(there);
    if (!there)
      for (AnswerOption& option : writing.walk().playlist.pages[0].answer->options)
        option.see = "A page that is gone";
    show_page(writing.state(), 0);
    writing.ui().run_until_still().key("1").run_until_still();
    REQUIRE_FALSE(writing.walk().asking());
    CHECK(writing.ui().has("caption/see") == there);
  }
}

TEST_CASE("an answer that is still being written does not spoil what is kept or saved") {
  BENCH_OR_SKIP(Writing, writing);
  writing.choose(1);
  writing.retype("answer/is", "max nonsense[");
  const Playlist kept = playlist_from_json(playlist_to_json(writing.walk().playlist), "kept");
  CHECK(kept.pages[0].ask == "How much?");
  CHECK_FALSE(kept.pages[0].answer);
  CHECK_THROWS_WITH(checked_keys(writing.walk().playlist, "not saved"),
                    doctest::Contains("not saved: page 1: answer"));
}
