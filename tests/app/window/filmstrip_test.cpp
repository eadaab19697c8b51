// The strip of pages beside the stage, and making pages without a detour.
#include "app/window/filmstrip.h"
#include "app/window/page_turns.h"

#include <fmt/format.h>

#include <set>

#include "app/session/settings.h"
#include "app/window/window_commands.h"
#include "core/lessons/lessons.h"
#include "tests/app/window/playlist_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

std::string page_probe(std::size_t page) {
  return fmt::format("filmstrip/page/{}", page);
}
std::string picture_probe(std::size_t page) {
  return fmt::format("filmstrip/picture/{}", page);
}

bool has_pictures(WindowBench& bench, std::size_t pages) {
  for (int i = 0; i < 400 && !bench.ui->has(picture_probe(pages - 1)); ++i) bench.ui->run_frames(1);
  bench.ui->run_frames(3);
  for (std::size_t page = 0; page < pages; ++page)
    if (!bench.ui->has(picture_probe(page))) return false;
  return true;
}

// The pixels of a page's picture in the window.
std::vector<int> picture_of(const WindowBench& bench, std::size_t page) {
  const UiRect rect = bench.ui->rect(picture_probe(page));
  const Image image = bench.ui->pixels();
  std::vector<int> pixels;
  for (int y = static_cast<int>(rect.min.y) + 3; y < static_cast<int>(rect.max.y) - 3; ++y) {
    for (int x = static_cast<int>(rect.min.x) + 3; x < static_cast<int>(rect.max.x) - 3; ++x) {
      const auto at = 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                           static_cast<std::size_t>(x));
      pixels.push_back(image.rgba[at] << 16 | image.rgba[at + 1] << 8 | image.rgba[at + 2]);
    }
  }
  return pixels;
}

std::vector<std::string> captions(const WindowBench& bench) {
  std::vector<std::string> words;
  for (const PlaylistPage& page : bench.walk().playlist.pages) words.push_back(page.caption);
  return words;
}

// As a keyboard types: every key goes down, with its letter, and up again.
void type_as_keys(WindowBench& bench, std::string_view letters) {
  for (const char letter : letters) {
    const std::string one(1, letter);
    bench.ui->push(
        KeyChanged{static_cast<int>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter), true});
    bench.ui->push(TextEntered{static_cast<char32_t>(letter)});
    bench.ui->push(
        KeyChanged{static_cast<int>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter), false});
  }
  bench.ui->run_frames(static_cast<int>(4 * letters.size()));
}

constexpr std::string_view every_key = "abcdefghijklmnopqrstuvwxyz 0123456789.,";

}  // namespace

TEST_CASE("beside pages of one's own stand pictures of them, and a click on one goes to its page") {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const TemporaryFolder folder;
    WINDOW_OR_SKIP(bench, open_window(1280, 720));
    bench.state().view.settings.theme = theme;
    CHECK_FALSE(bench.ui->has("panel/filmstrip"));
    drop(bench, lesson_file(folder));
    REQUIRE(bench.ui->has("panel/filmstrip"));
    for (std::size_t page = 0; page < 3; ++page) CHECK(bench.ui->has(page_probe(page)));
    REQUIRE(has_pictures(bench, 3));
    bench.ui->save_png(theme == Theme::dark ? "filmstrip_dark" : "filmstrip_light");
    const std::vector<int> first = picture_of(bench, 0), third = picture_of(bench, 2);
    CHECK(std::set<int>(first.begin(), first.end()).size() > 50);
    CHECK(first != third);
    // All of it lies beside the stage.
    CHECK(bench.ui->rect("panel/filmstrip").max.x <= bench.ui->rect("panel/setup").min.x);
    CHECK(bench.ui->rect("panel/filmstrip").max.x <= bench.ui->rect("panel/caption").min.x);
    for (const char* button :
         {"filmstrip/add", "filmstrip/duplicate", "filmstrip/update", "filmstrip/remove"}) {
      CHECK(bench.ui->rect(button).max.x <= bench.ui->rect("panel/filmstrip").max.x);
      CHECK(bench.ui->rect(button).max.y <= bench.ui->rect("panel/filmstrip").max.y);
    }
    bench.ui->click(page_probe(2));
    CHECK(bench.walk().page == 2);
    CHECK(bench.selection().view == StageView::all_heads);
    bench.ui->key("F");
    CHECK_FALSE(bench.ui->has("panel/filmstrip"));
  }
}

TEST_CASE("the end of the strip cuts no title in half") {
  for (const int height : {620, 640, 660, 680, 700, 720, 740}) {
    CAPTURE(height);
    WINDOW_OR_SKIP(bench, open_lesson(1280, height));
    Playlist& playlist = bench.walk().playlist;
    while (playlist.pages.size() < 9) playlist.pages.push_back(playlist.pages.front());
    bench.ui->run_frames(3);
    const float bottom = bench.ui->rect("filmstrip/add").min.y;
    std::size_t titles = 0;
    for (; bench.ui->has(fmt::format("filmstrip/title/{}", titles)); ++titles)
      CHECK(bench.ui->rect(fmt::format("filmstrip/title/{}", titles)).max.y < bottom);
    CHECK(titles >= 3);
    CHECK(titles < 9);
  }
}

TEST_CASE("a picture is kept while words change, and drawn anew where the page shows something else") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  PageThumbnails thumbnails;
  thumbnails.set_look(120, 70, Theme::light);
  PlaylistPage page = lesson_playlist("first_walk").pages[2];
  const auto draw = [&] {
    for (int i = 0; i < 1000 && thumbnails.advance({&page, 1}); ++i) {
    }
  };
  draw();
  REQUIRE(thumbnails.find(page));
  CHECK(thumbnails.find(page)->width() == 120);
  CHECK(thumbnails.find(page)->height() == 70);
  CHECK(thumbnails.drawn() == 1);
  page.caption = "Other words.";
  page.title = "Another title";
  CHECK(thumbnails.find(page));
  page.step = Step::output;
  page.pin.reset();
  page.tensor.reset();
  page.spotlight = false;
  CHECK_FALSE(thumbnails.find(page));
  draw();
  CHECK(thumbnails.drawn() == 2);
  thumbnails.set_look(120, 70, Theme::dark);
  CHECK_FALSE(thumbnails.find(page));
  // A page that cannot be shown has no picture, and is not tried again and again.
  page.head = 99;
  draw();
  CHECK_FALSE(thumbnails.find(page));
  CHECK_FALSE(thumbnails.advance({&page, 1}));
}

TEST_CASE("the picture of a page that hides its answer hides it too") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 720, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "hand_made", "step": "softmax", "head": 4, "caption": "Open." },
    { "step": "softmax", "head": 4, "ask": "Which?", "veil": true, "caption": "Hidden." },
    { "step": "softmax", "head": 4, "ask": "Which?", "veil": true, "caption": "Hidden too.",
      "pin": { "tensor": "attn_weights", "index": [0, 4, 3, 1] } } ] })"));
  REQUIRE(has_pictures(bench, 3));
  CHECK(picture_of(bench, 0) != picture_of(bench, 1));
  // the cell that the answer points at is not to be seen
  CHECK(picture_of(bench, 1) == picture_of(bench, 2));
}

TEST_CASE("the picture of a page that asks for a mask, or for a cell, shows neither") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 720, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "hand_made", "set": ["mask.is_causal=true"], "step": "mask", "ask": "Which?", "veil": true,
      "caption": "Those.", "answer": {"kind": "mask", "is": "mask_bias[0,0,:,:] = -inf"} },
    { "set": ["mask.sliding_window=2"], "ask": "Which?", "veil": true,
      "caption": "Those.", "answer": {"kind": "mask", "is": "mask_bias[0,0,:,:] = -inf"} },
    { "scenario": "hand_made", "step": "scores", "ask": "Where?", "caption": "There.",
      "answer": {"kind": "cell", "tensor": "scores", "row": "8", "column": "argmax scores[0,0,8,:]"} },
    { "step": "scores", "ask": "Where?", "caption": "There.", "pin": { "tensor": "scores", "index": [0, 0, 8, 7] },
      "answer": {"kind": "cell", "tensor": "scores", "row": "8", "column": "argmax scores[0,0,8,:]"} } ] })"));
  REQUIRE(has_pictures(bench, 4));
  CHECK(picture_of(bench, 0) == picture_of(bench, 1));
  CHECK(picture_of(bench, 2) == picture_of(bench, 3));
  bench.ui->save_png("pictures_that_ask");
}

TEST_CASE("the picture of a page that asks for a head does not show which it is") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 720, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "hand_made", "step": "softmax", "view": "all_heads", "head": 4, "caption": "Head 4." },
    { "step": "softmax", "view": "all_heads", "head": 4, "ask": "Which?", "caption": "It.",
      "answer": {"kind": "head", "is": "argmax attn_weights[0,:,8,7]"} },
    { "step": "softmax", "view": "all_heads", "head": 0, "ask": "Which?", "caption": "It.",
      "answer": {"kind": "head", "is": "argmax attn_weights[0,:,8,7]"},
      "pin": { "tensor": "attn_weights", "index": [0, 0, 8, 7] } } ] })"));
  REQUIRE(has_pictures(bench, 3));
  CHECK(picture_of(bench, 0) != picture_of(bench, 1));
  CHECK(picture_of(bench, 1) == picture_of(bench, 2));
}

TEST_CASE("a page is dragged to another place, where a line shows its landing, and goes there by keys too") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 720));
  const PlaylistWalk& walk = bench.walk();
  const UiRect first = bench.ui->rect(page_probe(0)), last = bench.ui->rect(page_probe(2));
  const double x = 0.5 * (first.min.x + first.max.x);
  // Held over the end of the list.
  bench.ui->push(MouseMoved{x, first.min.y + 20.0}).push(MouseButtonChanged{0, true}).run_frames(4);
  bench.ui->push(MouseMoved{x, 0.5 * (last.min.y + last.max.y)}).run_frames(3);
  bench.ui->push(MouseMoved{x, last.max.y - 2.0}).run_frames(3);
  REQUIRE(bench.ui->has("filmstrip/landing"));
  bench.ui->save_png("filmstrip_drag");
  CHECK(bench.ui->rect("filmstrip/landing").min.y >= last.max.y - 4);
  CHECK(walk.page == 0);
  bench.ui->push(MouseButtonChanged{0, false}).run_frames(4);
  CHECK_FALSE(bench.ui->has("filmstrip/landing"));
  CHECK(captions(bench) == std::vector<std::string>{"Divided.", "Pinned.", "Every query meets every key."});
  CHECK(walk.page == 2);  // it is still the page shown
  CHECK(walk.changed);

  bench.ui->key("Alt+Up");
  CHECK(captions(bench)[1] == "Every query meets every key.");
  CHECK(walk.page == 1);
  bench.ui->key("Alt+Down");
  CHECK(captions(bench)[2] == "Every query meets every key.");
  // Another page than the one shown.
  bench.ui->drag(x, first.min.y + 20.0, x, bench.ui->rect(page_probe(1)).max.y + 2.0);
  CHECK(captions(bench)[0] == "Pinned.");
  CHECK(walk.page == 2);
}

TEST_CASE("the arrows go from page to page while the strip has the focus") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 720));
  const PlaylistWalk& walk = bench.walk();
  const FocusOrder& focus = bench.state().view.focus;
  const UiRect strip = bench.ui->rect("panel/filmstrip");
  const auto in_strip = [&] {
    return focus.focused != 0 && focus.ring_max.x <= strip.max.x && focus.ring_min.y >= strip.min.y;
  };
  for (int i = 0; i < 12 && !in_strip(); ++i) bench.ui->key("F6");
  REQUIRE(in_strip());
  bench.ui->key("Tab");  // from the button at the top
  bench.ui->key("Down");
  CHECK(walk.page == 1);
  bench.ui->key("End");
  CHECK(walk.page == 2);
  bench.ui->key("Home");
  CHECK(walk.page == 0);
}

TEST_CASE("pages are copied, updated, removed and put back with the buttons of the strip") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 720));
  const PlaylistWalk& walk = bench.walk();
  const std::vector<PlaylistPage>& pages = walk.playlist.pages;
  bench.ui->click("filmstrip/duplicate");
  REQUIRE(pages.size() == 4);
  CHECK(walk.page == 1);
  CHECK(pages[1] == pages[0]);

  // Its words stay; what it shows is what the window shows.
  bench.ui->key("M").key("Right").run_until_still().click("filmstrip/update");
  CHECK(pages[1].caption == "Every query meets every key.");
  CHECK(pages[1].step == Step::scale);
  CHECK(*pages[1].scenario == bench.scenario());
  CHECK_FALSE(*pages[1].scenario == *pages[0].scenario);
  bench.ui->key("PageUp").key("PageDown");
  CHECK(bench.selection().step == Step::scale);
  CHECK(bench.scenario() == *pages[1].scenario);
  bench.ui->click("filmstrip/put_back");
  CHECK(pages[1] == pages[0]);
  CHECK(bench.selection().step == Step::scores);
  CHECK_FALSE(bench.ui->has("filmstrip/put_back"));

  const Playlist before = walk.playlist;
  const UiRect remove = bench.ui->rect("filmstrip/remove");
  bench.ui->click("filmstrip/remove");
  REQUIRE(bench.ui->has("filmstrip/put_back"));
  CHECK(bench.ui->rect("filmstrip/remove").min.y == remove.min.y);  // a second click does the same
  bench.ui->click("filmstrip/remove");
  CHECK(pages.size() == 2);
  CHECK_CONTAINS(bench.state().view.notices.notices.back().text, "Put page back");
  bench.ui->click("filmstrip/put_back");
  CHECK(pages.size() == 3);
  bench.ui->click("filmstrip/put_back");
  CHECK(walk.playlist == before);

  // The last page of all ends the walk, and comes back all the same.
  for (int i = 0; i < 4; ++i) perform(bench.state(), CommandCall{CommandId::remove_page});
  bench.ui->run_frames(3);
  CHECK(pages.empty());
  CHECK_FALSE(walk.page);
  bench.ui->click("menu/Teach").click("menu/Put page back").run_frames(3);
  CHECK(pages.size() == 1);
  CHECK(walk.page == 0);
}

TEST_CASE("a page that hides its answer is not updated before it shows it") {
  WINDOW_OR_SKIP(bench, open_lesson(1280, 720, R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "hand_made", "step": "softmax", "ask": "Which?", "ask_step": "scores", "caption": "This." } ] })"));
  const Playlist before = bench.walk().playlist;
  bench.ui->key("Ctrl+U");
  CHECK(bench.walk().playlist == before);
  CHECK(bench.state().view.notices.notices.size() == 1);
  bench.ui->key("PageDown").run_until_still().key("3").key("Ctrl+U");
  const PlaylistPage& page = bench.walk().playlist.pages[0];
  CHECK(page.head == 3);
  CHECK(page.step == Step::softmax);
  CHECK(page.ask_step == Step::scores);
  CHECK(page.ask == "Which?");
}

TEST_CASE("a lesson has its pages folded until they are asked for, which is remembered") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  WindowState& state = bench.state();
  state.view.settings_file = folder.file("settings.json");
  start_walk(state, lesson_playlist("questions"));
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("panel/filmstrip"));
  bench.ui->click("caption/pages");
  CHECK(bench.ui->has("panel/filmstrip"));
  CHECK(load_settings(state.view.settings_file).settings.filmstrip_of_lessons);
  // Only the pages in view are drawn; the one that is turned to comes into view.
  CHECK_FALSE(bench.ui->has(page_probe(25)));
  show_page(state, 25);
  bench.ui->run_frames(4);
  CHECK(bench.ui->rect(page_probe(25)).max.y <= bench.ui->rect("filmstrip/add").min.y + 1);
  bench.ui->save_png("filmstrip_lesson").click("filmstrip/hide");
  CHECK_FALSE(bench.ui->has("panel/filmstrip"));
  CHECK_FALSE(load_settings(state.view.settings_file).settings.filmstrip_of_lessons);
  CHECK(load_settings(state.view.settings_file).settings.filmstrip);
}

TEST_CASE("six pages are made one after the other, each with its caption, without leaving the keyboard") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  const PlaylistWalk& walk = bench.walk();
  for (int page = 0; page < 6; ++page) {
    bench.ui->key("Ctrl+M");
    type_as_keys(bench, fmt::format("page {}", page));
    bench.ui->key("Escape").key("Right").run_until_still();
  }
  REQUIRE(walk.playlist.pages.size() == 6);
  CHECK(walk.page == 5);
  for (int page = 0; page < 6; ++page) {
    CHECK(walk.playlist.pages[static_cast<std::size_t>(page)].caption == fmt::format("page {}", page));
    CHECK(walk.playlist.pages[static_cast<std::size_t>(page)].step == static_cast<Step>(page));
  }
  CHECK(walk.playlist.pages[0].scenario == walk.playlist.pages[0].scenario);
  CHECK_FALSE(walk.from_program);
}

TEST_CASE("no key typed into a caption is a command, however its page was added, whatever stands before it") {
  const TemporaryFolder folder;
  for (int way = 0; way < 7; ++way) {
    CAPTURE(way);
    WINDOW_OR_SKIP(bench, open_window(1280, 900));
    bench.ui->rasterise(false);
    WindowState& state = bench.state();
    if (way >= 4) drop(bench, lesson_file(folder));
    const Selection place = bench.selection();
    const Scenario scenario = bench.scenario();
    switch (way) {
      case 0:  // without a frame between the command and the first letter
        perform(state, CommandCall{CommandId::add_page});
        break;
      case 1:
        bench.ui->key("Ctrl+M");
        break;
      case 2:
        bench.ui->key("Ctrl+Shift+P").type("Add page").key("Enter");
        break;
      case 3:  // a new playlist while the words of another are being written
        bench.ui->key("Ctrl+M").click("caption/title");
        perform(state, CommandCall{CommandId::new_playlist});
        break;
      case 4:
        bench.ui->click("filmstrip/add");
        break;
      case 5:
        bench.ui->click("menu/Teach").click("menu/Add page");
        break;
      default:  // behind a question with options
        bench.ui->click("filmstrip/add").click("caption/question").type("Which?").run_frames(3);
        state.document.walk.playlist.pages[*state.document.walk.page].answer = PageAnswer{};
        bench.ui->run_frames(3).click("caption/text");
    }
    type_as_keys(bench, every_key);
    REQUIRE(state.document.walk.page);
    CHECK(state.document.walk.shown()->caption == every_key);
    CHECK(bench.scenario() == scenario);
    CHECK(bench.selection().step == place.step);
    CHECK(bench.selection().view == place.view);
    CHECK(bench.selection().head == place.head);
    CHECK_FALSE(state.dialogs.any_open());
  }
}

TEST_CASE("a sentence that is typed after a click that missed its field runs no command") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  WindowState& state = bench.state();
  drop(bench, lesson_file(folder));
  bench.ui->click("filmstrip/add").run_frames(3);
  const Scenario scenario = bench.scenario();
  const Selection place = bench.selection();
  const Theme theme = state.view.settings.theme;
  const UiRect caption = bench.ui->rect("panel/caption");
  bench.ui->click(caption.min.x + 20, caption.max.y - 6);  // below the buttons, where no field is
  type_as_keys(bench, every_key);
  CHECK(bench.scenario() == scenario);
  CHECK(bench.selection().step == place.step);
  CHECK(bench.selection().view == place.view);
  CHECK(state.view.settings.theme == theme);
  CHECK_FALSE(state.dialogs.any_open());
  // After a click on the stage, or Escape, letters are commands again.
  bench.ui->click("stage/view/All heads").key("C");
  CHECK_FALSE(bench.scenario() == scenario);
}

TEST_CASE("the number of a page stands before its title once") {
  PlaylistPage page;
  page.title = "2 Three projections";
  CHECK(page_name(page, 2) == "2 Three projections");
  CHECK(page_name(page, 3) == "3  2 Three projections");
}

TEST_CASE("a page without words is named by its view and its step") {
  PlaylistPage page;
  page.step = Step::softmax;
  CHECK(page_name(page, 2) == "2  Softmax");
  page.view = StageView::tokens;
  CHECK(page_name(page, 2) == "2  Tokens, Softmax");
  page.caption = "What “it” attends to.";
  CHECK(page_name(page, 2) == "2  What “it” attends to.");
}
