// A page's words, its controls and the labels of its maps, from the back row of a hall.
#include <doctest/doctest.h>

#include <cmath>

#include "app/lesson/page_answers.h"
#include "app/window/page_turns.h"
#include "core/lessons/lessons.h"
#include "tests/app/window/answers_bench.h"

using namespace headwise;

namespace {

constexpr const char* heads_lesson = R"({ "headwise_playlist": 1, "pages": [
  { "title": "Eight opinions", "scenario": "hand_made", "step": "softmax", "view": "all_heads",
    "ask": "Click the head where token 8 looks most at token 7.", "caption": "Heads differ.",
    "answer": {"kind": "head", "is": "argmax attn_weights[0,:,8,7]"} },
  { "title": "Where", "step": "softmax", "view": "one_head", "head": 0, "ask": "Which pair is the strongest of row 8?", "caption": "That one.",
    "answer": {"kind": "cell", "tensor": "attn_weights", "row": "8", "column": "argmax attn_weights[0,0,8,:]"} },
  { "title": "Many", "step": "softmax", "ask": "Which?", "caption": "The second.",
    "answer": {"kind": "choice", "options": [
      {"text": "the scores of a row, before anything is scaled or blocked", "is": "argmax attn_weights[0,0,8,:] = 8"},
      {"text": "the weights of a row, which sum to one whatever the mask", "is": "argmax attn_weights[0,0,8,:] = 7"},
      {"text": "the values", "is": "argmax attn_weights[0,0,8,:] = 1"}]} },
  { "title": "Lines", "step": "softmax", "view": "tokens", "head": 2, "caption": "Who looks where." } ] })";

bool inside(const UiRect& inner, const UiRect& outer) {
  return inner.min.x >= outer.min.x && inner.max.x <= outer.max.x && inner.min.y >= outer.min.y &&
         inner.max.y <= outer.max.y;
}

}  // namespace

TEST_CASE("every head of a question has a button in sight, beside the hint and the way on, at every width") {
  for (const auto& [width, height] :
       {std::pair{1280, 720}, {1920, 1080}, {1000, 700}, {1600, 1000}, {700, 900}}) {
    for (const bool presentation : {false, true}) {
      BENCH_OR_SKIP(LectureBench, lecture, heads_lesson, width, height);
      CAPTURE(width);
      CAPTURE(presentation);
      if (presentation) lecture.ui().key("F11");
      lecture.ui().run_until_still();
      const UiRect panel = lecture.ui().rect("panel/caption");
      const Index heads = lecture.bench.trace().options.num_heads;
      REQUIRE(heads == 8);
      for (Index head = 0; head < heads; ++head)
        CHECK(inside(lecture.ui().rect("caption/head/" + std::to_string(head)), panel));
      CHECK(inside(lecture.ui().rect("caption/point"), panel));
      CHECK(inside(lecture.ui().rect("caption/answer"), panel));
      lecture.ui().click("caption/head/7");
      CHECK(lecture.walk().given.head == 7);
      CHECK_FALSE(lecture.walk().asking());
    }
  }
}

TEST_CASE("the words of a page have the largest type that fits the column of a hall, and titles are larger") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
    WINDOW_OR_SKIP(bench, open_unpainted(width, height));
    bench.ui->rasterise(false);
    WindowState& state = bench.state();
    bench.ui->key("F11");
    std::size_t larger = 0, pages = 0;
    for (const Lesson& each : lessons()) {
      start_walk(state, lesson_playlist(each.name));
      for (std::size_t page = 0; page < state.document.walk.playlist.pages.size(); ++page) {
        show_page(state, page, PageEntry::answered);
        bench.ui->run_until_still();
        const PlaylistWalk& walk = state.document.walk;
        CAPTURE(width);
        CAPTURE(walk.shown()->title);
        const Fonts& fonts = bench.ui->fonts();
        const float scale = std::round(8.0f * fonts.sans->FontSize / 15.0f) / 8.0f;
        const UiRect panel = bench.ui->rect("panel/caption"), words = bench.ui->rect("caption/words");
        const float column = words.max.x - words.min.x;
        const float room = panel.max.y - panel.min.y - 2 * std::round(10 * scale) - 40 * scale;
        const PresentationType type = presentation_type(fonts, scale, {column, room}, walk);
        CHECK(type.title > type.words);
        for (const PresentationType& other : presentation_types) {
          if (other.words <= type.words) break;
          CHECK_FALSE(presentation_type_fits(fonts, scale, {column, room}, other, walk));
        }
        // So they are drawn, above the number of the page.
        const Type drawn = type_at(fonts, scale, type.words, walk.words.caption);
        if (!walk.words.caption.empty())
          CHECK(words.max.y - words.min.y == doctest::Approx(size_in(drawn, column, walk.words.caption).y));
        if (type.words > presentation_types.back().words)
          CHECK(words.max.y <= bench.ui->rect("caption/page").min.y);
        larger += type.words > 18 ? 1 : 0;
        ++pages;
      }
    }
    CHECK(larger > pages / 2);
  }
}

TEST_CASE("in a hall options are as large as the words, in a column where they have no room side by side") {
  BENCH_OR_SKIP(LectureBench, lecture, heads_lesson);
  lecture.ui().key("F11");
  lecture.show(2);
  lecture.ui().save_png("hall_options");
  const UiRect panel = lecture.ui().rect("panel/caption"), first = lecture.ui().rect("caption/option/1"),
               second = lecture.ui().rect("caption/option/2"), ask = lecture.ui().rect("caption/ask");
  CHECK(inside(first, panel));
  CHECK(inside(second, panel));
  CHECK(second.min.y >= first.max.y);
  CHECK(first.min.x == second.min.x);
  const float line = ask.max.y - ask.min.y;  // "Which?" is one line
  CHECK(first.max.y - first.min.y > 2 * line);
  lecture.key("1");
  const UiRect verdict = lecture.ui().rect("caption/verdict"), words = lecture.ui().rect("caption/words");
  CHECK(words.max.y - words.min.y == doctest::Approx(line));
  CHECK(std::fmod(verdict.max.y - verdict.min.y, line) < 1.0f);
}

TEST_CASE("an answer that is passed over says what is right, and marks it where it is a place") {
  BENCH_OR_SKIP(LectureBench, lecture, heads_lesson, 1600, 1000);
  lecture.state().view.settings.reduce_motion = true;
  UiDriver& ui = lecture.ui();
  ui.run_until_still();
  CHECK_FALSE(ui.has("stage/right_head"));
  CHECK(answer_verdict(lecture.walk()).empty());
  ui.key("PageDown").run_until_still();
  REQUIRE(lecture.walk().words.key.head);
  const Index right = *lecture.walk().words.key.head;
  CHECK(answer_verdict(lecture.walk()) == "The right head is " + std::to_string(right) + ".");
  CHECK(ui.has("caption/verdict"));
  const UiRect frame = ui.rect("stage/right_head"), map = ui.rect("stage/map/" + std::to_string(right));
  CHECK(inside(map, frame));
  ui.key("PageDown").run_until_still();
  CHECK_FALSE(ui.has("stage/right"));
  ui.key("PageDown").run_until_still();
  CHECK(answer_verdict(lecture.walk()).starts_with("It is “it” (row 8)"));
  const UiRect cell = ui.rect("stage/right"), whole = ui.rect("stage/result");
  const Index column = *lecture.walk().words.key.column;
  const float pitch = (whole.max.x - whole.min.x) / 12, row = (whole.max.y - whole.min.y) / 12;
  CHECK(cell.min.x == doctest::Approx(whole.min.x + pitch * static_cast<float>(column)).epsilon(0.01));
  CHECK(cell.min.y == doctest::Approx(whole.min.y + row * 8).epsilon(0.01));

  Asked asked;
  asked.ui().key("PageDown");
  CHECK(answer_verdict(asked.walk()) == "It is 2, “one word back”.");
  asked.ui().key("PageDown");
  CHECK(answer_verdict(asked.walk()).empty());  // it asks
  asked.ui().key("PageDown");
  CHECK(answer_verdict(asked.walk()) == "It is 0.901 of 1.");
}

TEST_CASE("whatever a built-in lesson asks, passing over it says what is right") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 800));
  bench.ui->rasterise(false);
  bench.state().view.settings.reduce_motion = true;
  for (const Lesson& each : lessons()) {
    const Playlist& playlist = lesson_playlist(each.name);
    for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
      if (!playlist.pages[page].answer) continue;
      CAPTURE(playlist.pages[page].title);
      start_walk(bench.state(), playlist, "", page);
      bench.ui->run_until_still().key("PageDown").run_until_still();
      CHECK(bench.ui->has("caption/verdict"));
      const std::string told = answer_verdict(bench.walk());
      CHECK_MESSAGE((told.find("ight ") != std::string::npos || told.starts_with("It is ") ||
                     told.starts_with("The largest weight") || told.ends_with("pairs are blocked.")),
                    told);
    }
  }
}

TEST_CASE("in a hall every row and column has its label, as large as the lines allow") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
    BENCH_OR_SKIP(LectureBench, lecture, heads_lesson, width, height);
    CAPTURE(width);
    UiDriver& ui = lecture.ui();
    ui.key("F11").run_until_still().run_frames(40, 0.1);
    ui.save_png("hall_heads_" + std::to_string(width));
    for (int i = 0; i < 12; ++i)
      ui.check_shown({"label/row/" + std::to_string(i), "label/column/" + std::to_string(i)});
    Selection& selection = lecture.now();
    selection.view = StageView::one_head;
    ui.run_until_still();
    ui.save_png("hall_one_head_" + std::to_string(width));
    const float sans = ui.fonts().sans->FontSize;
    for (int i = 0; i < 12; ++i) {
      const UiRect row = ui.rect("label/row/" + std::to_string(i));
      CHECK(row.max.y - row.min.y >= 1.15f * sans);
      CHECK(row.min.x >= ui.rect("panel/stage").min.x);
      if (i > 0) CHECK(row.min.y >= ui.rect("label/row/" + std::to_string(i - 1)).max.y);
      CHECK(ui.has("label/column/" + std::to_string(i)));
    }
    const UiRect map = ui.rect("stage/result");
    CHECK(map.max.y - map.min.y >= 0.55f * static_cast<float>(height));
    lecture.show(3);
    ui.save_png("hall_tokens_" + std::to_string(width));
    for (int i = 0; i < 12; ++i) {
      const UiRect query = ui.rect("label/query/" + std::to_string(i));
      CHECK(query.max.y - query.min.y >= 1.15f * sans);
    }
    CHECK(ui.rect("stage/hall_head").max.y <= ui.rect("label/query/0").min.y);
  }
}

TEST_CASE("the statistics of the weights stand above maps of weights, above no others, and not in a hall") {
  WINDOW_OR_SKIP(bench, open_unpainted(1600, 1000));
  Selection& selection = bench.selection();
  selection.view = StageView::all_heads;
  for (const Step step : {Step::scores, Step::scale, Step::mask, Step::softmax}) {
    CAPTURE(static_cast<int>(step));
    selection.step = step;
    bench.ui->run_until_still();
    REQUIRE(bench.ui->has("stage/map/0"));
    CHECK(bench.ui->has("stage/head_words/0") == (step == Step::softmax));
  }
  const UiRect before = bench.ui->rect("stage/map/0"), panel = bench.ui->rect("panel/stage");
  bench.ui->key("F11").run_until_still().run_frames(40, 0.1);
  const UiRect map = bench.ui->rect("stage/map/0"), stage = bench.ui->rect("panel/stage");
  CHECK((map.max.y - map.min.y) / (stage.max.y - stage.min.y) >
        (before.max.y - before.min.y) / (panel.max.y - panel.min.y));
}

TEST_CASE("the foot of a hall says what goes on, whole, and on the last page that nothing does") {
  for (const int width : {1280, 1920}) {
    WINDOW_OR_SKIP(bench, open_unpainted(width, width * 9 / 16));
    WindowState& state = bench.state();
    const TemporaryFolder folder;
    drop(bench, lesson_file(folder));
    bench.ui->key("F11").run_until_still();
    CHECK((bench.ui->has("says/1 of 3 · Page Down goes on, Esc leaves full screen") ||
           bench.ui->has("says/1 of 3 · Page Down goes on")));
    bench.ui->key("PageDown").key("PageDown").run_until_still();
    CHECK(state.document.walk.page == 2);
    CHECK(bench.ui->has("says/3 of 3, the last page · Esc leaves full screen"));
  }
}
