// A lecturer's hands: presenting, leaving, blanking, rehearsing; and a caption that never stands beside
// another page's stage.
#include <doctest/doctest.h>

#include <array>

#include "app/lesson/answer_kinds.h"
#include "app/session/commands.h"
#include "app/session/folder_listing.h"
#include "app/window/menu_bar.h"
#include "app/window/page_turns.h"
#include "app/window/window_commands.h"
#include "app/window/window_layout.h"
#include "core/lessons/lessons.h"
#include "tests/app/window/answers_bench.h"
#include "tests/app/window/lecture_bench.h"
#include "tests/app/window/training_bench.h"

using namespace headwise;

namespace {

constexpr const char* lecture = R"({ "headwise_playlist": 1, "title": "A lecture", "pages": [
  { "title": "Pairs", "scenario": "hand_made", "step": "scores", "head": 4, "caption": "Every query meets every key.",
    "notes": "Say that there are {E} features." },
  { "title": "Scale", "step": "scale", "caption": "Divided." },
  { "title": "Pinned", "step": "softmax", "pin": { "tensor": "attn_weights", "index": [0, 4, 3, 1] }, "caption": "Pinned." },
  { "title": "All", "view": "all_heads", "caption": "All heads." } ] })";

struct Presented : LectureBench {
  explicit Presented(int width = 1280, int height = 720) : LectureBench(lecture, width, height) {}
};

}  // namespace

TEST_CASE("F5 presents on the whole screen, never closes what it presents, and Escape leaves") {
  BENCH_OR_SKIP(Presented, presented);
  presented.key("PageDown");
  for (int i = 0; i < 3; ++i) {
    presented.key("F5");
    CHECK(presented.walk().page == 1);
    CHECK(presented.ui().result().full_screen);
  }
  presented.key("Escape");
  CHECK(presented.walk().page == 1);
  CHECK_FALSE(presented.ui().result().full_screen);
  presented.key("Escape");
  CHECK_FALSE(presented.walk().page);
  presented.key("F5");
  CHECK(presented.walk().page == 1);
  CHECK(presented.ui().result().full_screen);
  presented.key("Escape");
  presented.ui().click("caption/leave");
  CHECK_FALSE(presented.walk().page);
}

TEST_CASE("on the whole screen the keys of the steps turn the pages") {
  BENCH_OR_SKIP(Presented, presented);
  presented.key("F5");
  const std::pair<const char*, std::size_t> keys[] = {{"Space", 1}, {"Right", 2}, {"Left", 1}, {"End", 3},
                                                      {"Right", 3}, {"Home", 0},  {"Left", 0}, {"Right", 1}};
  for (const auto& [key, page] : keys) {
    CAPTURE(key);
    presented.key(key);
    CHECK(presented.walk().page == page);
    CHECK_FALSE(presented.walk().departure);
  }
  presented.key("Home").key("A");
  CHECK(presented.walk().departure);
  presented.key("Home");
  CHECK_FALSE(presented.walk().departure);
}

TEST_CASE("while a map has the keys that turn pages, a line says so and how to go back to the pages") {
  BENCH_OR_SKIP(Presented, presented);
  const std::string told = "The arrows now select cells of the map; Esc lets them turn pages again.";
  presented.key("Enter");
  CHECK_FALSE(presented.tells(told));  // in the window they belong to the steps
  presented.key("Escape").key("F5");
  const auto below = [&] { return presented.says(told) || presented.says("Esc: arrows turn pages again"); };
  CHECK_FALSE(below());
  presented.key("Enter");
  CHECK(presented.tells(told));
  presented.state().view.notices.dismiss_all();
  presented.key("Right");
  CHECK(presented.walk().page == 0);
  CHECK(below());  // for as long as it holds, below the words
  presented.key("Enter").key("Escape");
  CHECK_FALSE(below());
  CHECK_FALSE(presented.tells(told));
  CHECK(presented.ui().result().full_screen);
  presented.key("Space");
  CHECK(presented.walk().page == 1);
}

TEST_CASE("F shows a class no controls: on the full screen it says what leaves it") {
  BENCH_OR_SKIP(Presented, presented);
  presented.key("F5").key("F");
  CHECK(presented.ui().result().full_screen);
  CHECK_FALSE(presented.ui().has("panel/setup"));
  CHECK(presented.tells("Full screen already hides the other panels. Esc leaves it."));
  presented.key("Escape").key("F");
  CHECK(presented.state().view.stage_only);
  CHECK_FALSE(presented.ui().result().full_screen);
}

TEST_CASE("whatever the order of keys, no caption stands beside the stage of another step or view") {
  BENCH_OR_SKIP(Presented, presented);
  constexpr std::array keys{"Home", "Right",  "Space", "PageDown", "Left", "End",
                            "A",    "PageUp", "F11",   "O",        "F5",   "PageDown"};
  std::uint64_t random = 12345;
  int beside = 0, instead = 0;
  for (int i = 0; i < 160; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const char* key = keys[(random >> 33) % keys.size()];
    presented.ui().key(key);
    presented.ui().run_frames(i % 3 == 0 ? 200 : 2);  // also long enough for what plays to go on
    REQUIRE(presented.walk().page);
    const PlaylistPage& page = *presented.walk().shown();
    const Selection& now = presented.bench.selection();
    const bool same = now.step == page.step && now.view == page.view;
    CAPTURE(i);
    CAPTURE(key);
    CHECK(presented.ui().has("caption/words") == same);
    CHECK(presented.ui().has("caption/elsewhere") == !same);
    ++(same ? beside : instead);
  }
  CHECK(beside > 20);
  CHECK(instead > 20);
}

TEST_CASE("what plays stops when a page is turned, and a link leads back to the page's own place") {
  BENCH_OR_SKIP(Presented, presented);
  presented.ui().key("Space").key("PageDown").run_frames(60, 0.1);
  CHECK(presented.bench.selection().step == Step::scale);
  presented.key("Home");
  REQUIRE(presented.ui().has("caption/back_to_page"));
  presented.click("caption/back_to_page");
  CHECK(presented.bench.selection().step == Step::scale);
  CHECK(presented.ui().has("caption/words"));
  presented.key("A").click("caption/back_to_page");
  CHECK(presented.bench.selection().view == StageView::one_head);
}

TEST_CASE("a mouse that rests does not take the place of a page's pin; one that moves does") {
  for (const char* key : {"PageDown", "F11"}) {
    BENCH_OR_SKIP(Presented, presented);
    const bool by_page = key == std::string("PageDown");
    presented.key("PageDown");
    if (!by_page) presented.key("PageDown");
    const UiRect map = presented.ui().rect("stage/result");
    const double x = 0.5 * (map.min.x + map.max.x), y = 0.5 * (map.min.y + map.max.y);
    presented.ui().move_to(x + 3, y).move_to(x, y);
    REQUIRE(presented.bench.selection().hovered);
    presented.key(key);
    presented.ui().run_frames(20);
    CAPTURE(key);
    REQUIRE(presented.bench.selection().pinned);
    CHECK_FALSE(presented.bench.selection().hovered);
    presented.ui().move_to(x + 2, y);
    CHECK(presented.bench.selection().hovered);
  }
}

TEST_CASE("in a hall steps come over the stage, not over the page's title, where a click changes nothing") {
  BENCH_OR_SKIP(Presented, presented, 1280, 720);
  presented.key("F5");
  presented.ui().run_frames(40, 0.1);
  REQUIRE_FALSE(presented.ui().has("panel/steps"));
  const UiRect title = presented.ui().rect("caption/heading"), stage = presented.ui().rect("panel/stage");
  const Step before = presented.bench.selection().step;
  for (const UiRect& where : {title, stage}) {
    // At once, as a pen or a finger does: nothing was there to be aimed at.
    presented.ui().click(0.5 * (where.min.x + where.max.x), where.min.y + 22);
    CHECK(presented.bench.selection().step == before);
    presented.ui().run_frames(40, 0.1);
  }
  presented.ui().move_to(600, 400).move_to(610, 400).run_frames(20);
  CHECK(presented.ui().rect("panel/steps").min.x >= presented.ui().rect("panel/caption").max.x);
  presented.ui().click("step_bar/step/0");
  CHECK(presented.bench.selection().step == Step::inputs);
}

TEST_CASE("B darkens the window, and any key or a click brings it back and does nothing else") {
  BENCH_OR_SKIP(Presented, presented);
  presented.key("F5");
  for (const char* key : {"B", "Right", "Escape", "PageDown"}) {
    presented.ui().key("B");
    CAPTURE(key);
    CHECK(presented.ui().has("blank"));
    CHECK_FALSE(presented.ui().has("panel/stage"));
    presented.ui().move_to(500, 300);
    CHECK(presented.ui().has("blank"));
    presented.ui().key(key);
    CHECK_FALSE(presented.ui().has("blank"));
    CHECK(presented.walk().page == 0);
    CHECK(presented.state().view.full_screen);
  }
  presented.ui().key("B").click(20, 20);
  CHECK_FALSE(presented.ui().has("blank"));
  CHECK(presented.ui().has("panel/stage"));
  CHECK(presented.bench.selection().step == Step::scores);
}

TEST_CASE("the way back to a page is in sight below the stage of a small window") {
  BENCH_OR_SKIP(Presented, presented, 900, 600);
  presented.key("End");
  REQUIRE(presented.ui().has("caption/back_to_page"));
  const UiRect panel = presented.ui().rect("panel/caption"),
               back = presented.ui().rect("caption/back_to_page");
  CHECK(back.max.y <= panel.max.y - 4);
  CHECK(back.max.x <= panel.max.x);
}

TEST_CASE("the presenter's clock runs on while nothing changes and no picture is drawn") {
  BENCH_OR_SKIP(Presented, presented);
  presented.key("F5");
  presented.state().view.presented_seconds = 0.0;
  presented.ui().set_frame([&](const FrameInput& input, const Fonts& fonts, float scale) {
    FrameInput late = input;
    late.slept_seconds = 90.0;
    return presented.bench.window->frame(late, fonts, scale);
  });
  presented.ui().run_frames(2);
  CHECK(presented.state().view.presented_seconds == doctest::Approx(180.0).epsilon(0.01));
}

TEST_CASE("the presenter's notes stand below the stage with a clock, in hall and window, and on no slide") {
  BENCH_OR_SKIP(Presented, presented);
  CHECK_FALSE(presented.ui().has("panel/notes"));
  presented.key("V");
  for (const bool presentation : {false, true}) {
    CAPTURE(presentation);
    if (presentation) presented.key("F5");
    CHECK(presented.ui().has("says/Say that there are 128 features."));
    CHECK(presented.ui().rect("panel/stage").max.y <= presented.ui().rect("panel/notes").min.y);
    CHECK(presented.ui().has("says/2  Scale"));
  }
  presented.state().view.presented_seconds = 59.0;
  presented.ui().run_frames(1, 4.0);
  CHECK(presented.ui().has("says/1:03 since it began"));
  CHECK(presented.ui().result().wake_after <= 1.02);
  presented.key("PageDown");
  CHECK(presented.ui().has("says/This page has no notes. “edit” beside its caption has a field for them."));
  presented.key("V");
  CHECK_FALSE(presented.ui().has("panel/notes"));
  CHECK(elapsed_text(7.9) == "0:07");
  CHECK(elapsed_text(3725) == "1:02:05");
}

TEST_CASE("notes are written beside the caption and saved with the page") {
  BENCH_OR_SKIP(Presented, presented, 1280, 900);
  presented.key("PageDown");
  presented.ui().click("caption/edit").click("caption/notes").type("Draw it.").click("caption/edit");
  presented.ui().key("Ctrl+S");
  CHECK(read_playlist_file(presented.folder.file("lesson.json")).pages[1].notes == "Draw it.");
}

TEST_CASE("an answer is taken back, and a rehearsal forgotten, with a control and from the commands' list") {
  BENCH_OR_SKIP(Asked, asked);
  UiDriver& ui = asked.ui();
  CHECK_FALSE(ui.has("caption/start_over"));
  ui.key("1").run_until_still();
  REQUIRE(answer_verdict(asked.walk()).starts_with("You chose 1"));
  ui.click("caption/take_back").run_until_still();
  CHECK(asked.walk().asking());
  CHECK(asked.now().step == Step::mask);
  CHECK(asked.walk().kept.empty());
  ui.key("2").run_until_still();
  CHECK(answer_verdict(asked.walk()).starts_with("You chose 2"));
  ui.key("PageDown").run_until_still().click("caption/start_over").run_until_still();
  CHECK(asked.walk().page == 0);
  CHECK(asked.walk().asking());
  CHECK(asked.walk().kept.empty());
  ui.key("1").run_until_still();
  perform(asked.state(), CommandCall{CommandId::start_over});
  ui.run_until_still();
  CHECK(asked.walk().asking());
}

TEST_CASE("a title that has no room beside “start over” is shortened, and its tooltip has all of it") {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(900, 600)}) {
    BENCH_OR_SKIP(Asked, asked, width, height);
    UiDriver& ui = asked.ui();
    asked.walk().playlist.title = "How heads come to differ";
    ui.run_until_still();
    CHECK(ui.has("says/How heads come to differ"));
    ui.key("1").run_until_still();
    ui.save_png("start_over_" + std::to_string(width));
    const std::vector<std::string> shown = ui.said("How ");
    REQUIRE(shown.size() == 1);
    CHECK(shown[0].ends_with("…"));
    const std::string title = "says/How " + shown[0];
    const ImFont* font = ui.fonts().small;
    const float width_shown = font->CalcTextSizeA(font->FontSize, 1e6f, 0.0f, ("How " + shown[0]).c_str()).x;
    CHECK(ui.rect(title).min.x + width_shown < ui.rect("caption/start_over").min.x);
    ui.move_to(ui.rect(title).min.x + 20, ui.rect(title).min.y + 5).run_frames(4, 0.4);
    REQUIRE(ui.has("tooltip"));
    ui.save_png("start_over_tooltip_" + std::to_string(width));
  }
}

TEST_CASE("a training that is looked into from a page leads back to it, with Escape and with a link") {
  for (const bool by_key : {true, false}) {
    WINDOW_OR_SKIP(bench, open_training());
    PlaylistWalk& walk = bench.walk();
    const Scenario own = bench.scenario();
    bench.ui->key("Escape");
    start_walk(bench.state(), lesson_playlist("first_walk"), {}, 2);
    bench.ui->run_until_still();
    bench.state().dialogs.training.open = true;
    bench.ui->run_frames(2);
    wait_until_idle(bench);
    bench.ui->click("training/map/0/0.1").run_until_still();
    REQUIRE_FALSE(walk.page);
    REQUIRE(bench.ui->has("checkpoint/place"));
    if (by_key) {
      bench.ui->key("Escape");  // the notice
      bench.ui->key("Escape");
    } else {
      bench.ui->click("checkpoint/page");
    }
    bench.ui->run_until_still();
    CHECK(walk.page == 2);
    CHECK(bench.scenario() == *walk.shown()->scenario);
    leave_walk(bench.state());
    bench.ui->run_until_still();
    CHECK(bench.scenario() == own);
  }
}

TEST_CASE("a name that is proposed for a file stands in the folder of the one before, and is never hidden") {
  CHECK(path_beside("/a/b/lesson.json", "slides.png") == "/a/b/slides.png");
  CHECK(path_beside("lesson.json", "slides.png") == "slides.png");
  CHECK(path_beside("/a/b/", "slides.png") == "/a/b/slides.png");
  WINDOW_OR_SKIP(bench, open_window(900, 700));
  WindowState& state = bench.state();
  start_walk(state, lesson_playlist("first_walk"));
  for (const char* path : {"", "lesson.json", "folder/lesson.json"}) {
    state.document.walk.path = path;
    perform(state, CommandCall{CommandId::save_slides});
    const std::string& proposed = state.dialogs.files.path;
    CHECK(proposed.substr(proposed.rfind('/') + 1) == "slides.png");
    state.dialogs.files.open = false;
    bench.ui->run_frames(2);
  }
}
