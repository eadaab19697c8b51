// Questions that take answers: given with the keys or the mouse alone, then held beside the result.
#include <algorithm>

#include "core/playlist/lessons.h"
#include "tests/app/window/answers_bench.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE(
    "a digit chooses an option; the result comes, the question stays, and why it was wrong stands beside "
    "it") {
  BENCH_OR_SKIP(Asked, asked);
  UiDriver& ui = *asked.bench.ui;
  CHECK(asked.offers("caption/option/3"));
  CHECK_FALSE(asked.offers("caption/option/4"));
  CHECK_FALSE(asked.offers("caption/words"));
  CHECK(asked.bench.selection().step == Step::mask);
  ui.key("4");  // no option: a head, as ever
  CHECK(asked.walk().asking());
  ui.key("1");
  ui.run_until_still();
  CHECK_FALSE(asked.walk().asking());
  CHECK(asked.bench.selection().step == Step::softmax);
  CHECK(asked.walk().page == 0);
  CHECK(asked.offers("caption/ask"));
  CHECK(asked.offers("caption/verdict"));
  CHECK(answer_verdict(asked.walk()).starts_with("You chose 1, “at itself”: wrong. It gives itself 0.0"));

  ui.click("caption/see");
  CHECK(asked.walk().page == 1);
  CHECK(asked.walk().asking());
  ui.key("PageUp");
  CHECK(answer_verdict(asked.walk()).starts_with("You chose 1"));  // the answer was kept
  ui.key("2");
  CHECK(asked.bench.selection().head == 2);  // what digits do while nothing is asked
}

TEST_CASE("an option is chosen with the mouse, and its link leads to a page of a built-in lesson") {
  BENCH_OR_SKIP(Asked, asked);
  asked.bench.ui->click("caption/option/3");
  CHECK(answer_verdict(asked.walk()) == "You chose 3, “at the noun”; it is 2, “one word back”.");
  asked.bench.ui->run_frames(2);
  asked.bench.ui->click("caption/see");
  CHECK(asked.walk().shown()->title == "Softmax over rows, or over columns?");
  CHECK(asked.walk().from_program);
}

TEST_CASE("the verdict follows the numbers when the page is changed") {
  BENCH_OR_SKIP(Asked, asked);
  asked.bench.ui->key("2");
  CHECK(answer_verdict(asked.walk()) == "You chose 2, “one word back”: right.");
  CHECK_FALSE(asked.offers("caption/see"));
  asked.bench.ui->run_until_still();
  Scenario flat = asked.bench.scenario();
  flat.inputs.positions = false;
  asked.bench.window->state().document.session.edit(flat, "positions off", false);
  asked.bench.ui->run_frames(3);
  CHECK_CONTAINS(answer_verdict(asked.walk()), "As the page is now, no single option is right");
}

TEST_CASE("a number is typed without touching the mouse, and the page says how far off it was") {
  BENCH_OR_SKIP(Asked, asked);
  UiDriver& ui = *asked.bench.ui;
  asked.bench.window->state().view.settings.reduce_motion = true;
  ui.key("2");
  ui.key("PageDown");
  REQUIRE(asked.walk().page == 1);
  CHECK(asked.walk().asking());
  ui.key("0");
  ui.run_frames(2);
  ui.type("0.4 of it");
  ui.key("Enter");
  CHECK(asked.walk().asking());
  CHECK(asked.walk().given.unreadable);
  for (int i = 0; i < 20; ++i) ui.key("Backspace");
  ui.type("0,4");
  ui.key("Enter");
  ui.run_frames(3);
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()) == "You said 0.400; it is 0.901 of 1: 0.501 too low.");
  CHECK(asked.offers("caption/ask"));
  CHECK_FALSE(asked.offers("caption/number"));
}

TEST_CASE("a number within reach of the key is right") {
  BENCH_OR_SKIP(Asked, asked);
  UiDriver& ui = *asked.bench.ui;
  ui.key("PageDown");
  ui.key("PageDown");
  CHECK(answer_verdict(asked.walk()).empty());
  ui.click("caption/number");
  ui.type("90 %");
  ui.click("caption/give");
  ui.run_frames(2);
  CHECK(answer_verdict(asked.walk()) == "You said 0.900: right, it is 0.901 of 1.");
}

TEST_CASE("Page Down submits a number that was typed, and goes on from an empty field") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  const Playlist& lesson = lesson_playlist("heads_differ");
  PlaylistWalk& walk = bench.window->state().document.walk;
  for (const bool typed : {true, false}) {
    start_walk(bench.window->state(), lesson, "", 2);
    bench.ui->run_until_still();
    bench.ui->click("caption/number");
    if (typed) bench.ui->type("50");
    bench.ui->key("PageDown");
    bench.ui->run_until_still();
    CHECK_FALSE(walk.asking());
    CHECK_CONTAINS(answer_verdict(walk), typed ? "You said 50: right" : "It is 50.8");
  }
}

TEST_CASE("an answer is no command: one that comes after the page has answered turns no page") {
  BENCH_OR_SKIP(Asked, asked);
  for (int i = 0; i < 2; ++i) {
    asked.walk().given.done = true;
    asked.bench.ui->run_until_still();
    CHECK_FALSE(asked.walk().asking());
    CHECK(asked.walk().page == 0);
  }
}

TEST_CASE("going on without an answer shows the result, and what is right") {
  BENCH_OR_SKIP(Asked, asked);
  asked.bench.ui->key("PageDown");
  CHECK_FALSE(asked.walk().asking());
  CHECK(answer_verdict(asked.walk()) == "It is 2, “one word back”.");
  asked.bench.ui->run_until_still();
  CHECK(asked.offers("caption/verdict"));
  CHECK(asked.offers("caption/words"));
}

TEST_CASE("the panel of the words is as high after the answer as before it, and holds what it shows") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {1280, 600}}) {
    WINDOW_OR_SKIP(bench, open_window(width, height));
    bench.ui->rasterise(false);
    bench.window->state().view.settings.reduce_motion = true;
    for (const Lesson& lesson : lessons()) {
      const Playlist& playlist = lesson_playlist(lesson.name);
      for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
        if (!playlist.pages[page].answer) continue;
        CAPTURE(width);
        CAPTURE(playlist.pages[page].title);
        start_walk(bench.window->state(), playlist, "", page);
        bench.ui->run_until_still();
        const UiRect before = bench.ui->rect("panel/caption");
        for (const char* name :
             {"caption/ask", "caption/answer", "caption/option/1", "caption/number", "caption/bars"})
          if (bench.ui->has(name)) CHECK(bench.ui->rect(name).max.y <= before.max.y);
        if (playlist.pages[page].answer->chooses()) {
          // The longest verdict
          const PageWords& words = bench.window->state().document.walk.words;
          std::size_t longest = 0;
          for (std::size_t i = 0; i < words.reasons.size(); ++i)
            if (words.reasons[i].size() > words.reasons[longest].size()) longest = i;
          bench.ui->key(std::to_string(longest + 1));
        } else if (bench.ui->has("caption/number")) {
          bench.ui->click("caption/number");
          bench.ui->type(playlist.pages[page].answer->kind == AnswerKind::shape ? "4, 3, 2, 1" : "0.4");
          bench.ui->key("Enter");
        } else if (bench.ui->has("caption/bars")) {
          bench.ui->click("caption/bars");
          bench.ui->click("caption/give");
        } else if (bench.ui->has("caption/head/0")) {
          bench.ui->click("caption/head/0");
        } else if (bench.ui->has("caption/give")) {
          bench.ui->click("stage/veil");
          bench.ui->click("caption/give");
        } else {
          bench.ui->click("stage/veil");
        }
        bench.ui->run_until_still();
        REQUIRE(bench.ui->has("caption/verdict"));
        const UiRect after = bench.ui->rect("panel/caption");
        CHECK(after.min.y == before.min.y);
        for (const char* name : {"caption/verdict", "caption/words", "caption/see", "caption/bars"})
          if (bench.ui->has(name)) CHECK(bench.ui->rect(name).max.y <= after.max.y);
      }
    }
  }
}

TEST_CASE("what an option quotes stands in single marks, within those around the option") {
  PageWords words;
  words.options = {"at “animal”", "elsewhere"};
  words.reasons = {"", ""};
  words.key.option = 0;
  CHECK(choice_verdict(words, 0) == "You chose 1, “at ‘animal’”: right.");
  CHECK(choice_verdict(words, 1) == "You chose 2, “elsewhere”; it is 1, “at ‘animal’”.");
}
