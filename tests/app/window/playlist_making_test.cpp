// Making a playlist in the window: nothing that a person has written is lost.
#include "app/window/playlist_making.h"
#include "app/window/page_turns.h"

#include <filesystem>
#include <utility>

#include "app/window/window_commands.h"
#include "app/window/window_files.h"
#include "core/lessons/lessons.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window/playlist_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

namespace fs = std::filesystem;

void command(WindowBench& bench, CommandId id) {
  perform(bench.state(), CommandCall{id});
  bench.ui->run_frames(3);
}

void type_path(WindowBench& bench, const std::string& path) {
  bench.ui->key("Ctrl+A").type(path).key("Enter");
}

}  // namespace

TEST_CASE("title, question and caption of a page, and the playlist's title, are typed where they stand") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  PlaylistWalk& walk = bench.walk();
  command(bench, CommandId::new_playlist);
  bench.ui->type("cam {max scores[0,0,2,:]}");
  REQUIRE(walk.page);
  CHECK(walk.playlist.pages[0].caption == "cam {max scores[0,0,2,:]}");
  CHECK(bench.scenario() == preset_scenario("hand_made"));  // no letter of it was a command
  bench.ui->click("caption/title").type("Heading").click("caption/question").type("Which?");
  bench.ui->click("caption/playlist_title").type("Mine");
  CHECK(walk.playlist.pages[0].title == "Heading");
  CHECK(walk.playlist.pages[0].ask == "Which?");
  CHECK(walk.playlist.title == "Mine");
  CHECK(bench.ui->rect("caption/text").max.y <= bench.ui->rect("panel/caption").max.y);
  bench.ui->click("caption/edit");
  CHECK_FALSE(walk.edits_words);
  CHECK(bench.ui->has("caption/words"));
}

TEST_CASE("a number that cannot be read keeps the page open, and says why") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  PlaylistWalk& walk = bench.walk();
  command(bench, CommandId::new_playlist);
  bench.ui->type("{max nonsense[0]}").click("caption/edit");
  CHECK(walk.edits_words);
  CHECK(bench.ui->has("error"));
  CHECK_CONTAINS(walk.words_problem, "nonsense");
  bench.ui->click("caption/text").key("Ctrl+A").type("better");
  CHECK_FALSE(bench.ui->has("error"));
  bench.ui->click("caption/edit");
  CHECK_FALSE(walk.edits_words);
}

TEST_CASE("pages of one's own are no part of the lesson that was looked at before") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  WindowState& state = bench.state();
  start_walk(state, lesson_playlist("questions"));
  bench.ui->run_frames(2).key("Escape");
  command(bench, CommandId::add_page);
  CHECK(state.document.walk.playlist.pages.size() == 1);
  CHECK(state.document.walk.page == 0);
  command(bench, CommandId::add_page);
  CHECK(state.document.walk.playlist.pages.size() == 2);
  CHECK(state.document.walk.path.empty());
}

TEST_CASE("a page that is added to a lesson while it is shown makes a copy of the lesson, and says so") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  WindowState& state = bench.state();
  start_walk(state, lesson_playlist("break_it"));
  const std::size_t pages = state.document.walk.playlist.pages.size();
  command(bench, CommandId::add_page);
  CHECK(state.document.walk.playlist.pages.size() == pages + 1);
  CHECK(state.document.walk.page == 1);
  CHECK(state.document.walk.edits_words);
  REQUIRE(state.view.notices.notices.size() == 1);
  CHECK_CONTAINS(state.view.notices.notices[0].text, "copy");
  CHECK(lesson_playlist("break_it").pages.size() == pages);
}

TEST_CASE("what is typed after a page is added is its caption, though a click took the focus elsewhere") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const PlaylistWalk& walk = bench.walk();
  command(bench, CommandId::add_page);
  bench.ui->type("One.").click("step_bar/step/5");
  CHECK(bench.selection().step == Step::mask);
  command(bench, CommandId::add_page);
  bench.ui->type("Causal");
  REQUIRE(walk.playlist.pages.size() == 2);
  CHECK(walk.playlist.pages[0].caption == "One.");
  CHECK(walk.playlist.pages[1].caption == "Causal");
  CHECK(walk.playlist.pages[1].step == Step::mask);
  CHECK_FALSE(bench.scenario().mask.is_causal);
}

TEST_CASE("a page that is added beside a question asks nothing itself") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const PlaylistWalk& walk = bench.walk();
  command(bench, CommandId::add_page);
  command(bench, CommandId::add_page);
  bench.ui->click("caption/question").type("Why?").click("caption/edit");
  command(bench, CommandId::previous_page);
  command(bench, CommandId::next_page);
  REQUIRE(walk.page == 1);
  REQUIRE(walk.asking());
  command(bench, CommandId::add_page);
  CHECK(walk.page == 2);
  CHECK_FALSE(walk.asking());
}

TEST_CASE("what plays stops where a page is made of what the window shows") {
  for (const CommandId makes : {CommandId::add_page, CommandId::update_page}) {
    CAPTURE(static_cast<int>(makes));
    WINDOW_OR_SKIP(bench, open_lesson(1280, 720));
    WindowState& state = bench.state();
    bench.ui->key("Space");
    for (int i = 0; i < 400 && (bench.selection().step == Step::scores || !state.view.motion.running); ++i)
      bench.ui->run_frames(1);
    REQUIRE(state.view.steps.playing);
    const Step seen = bench.selection().step;
    REQUIRE(seen != Step::scores);
    perform(state, CommandCall{makes});
    bench.ui->run_frames(300);
    CHECK_FALSE(state.view.steps.playing);
    CHECK(bench.selection().step == seen);
    CHECK(state.view.motion.progress == 1.0);
    CHECK(state.document.walk.shown()->step == seen);
  }
}

TEST_CASE("pages change places, and stay within the playlist") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  WindowState& state = bench.state();
  start_walk(state, lesson_playlist("break_it"));
  const Playlist before = state.document.walk.playlist;
  command(bench, CommandId::page_earlier);
  CHECK(state.document.walk.playlist == before);
  command(bench, CommandId::page_later);
  CHECK(state.document.walk.page == 1);
  CHECK(state.document.walk.playlist.pages[1] == before.pages[0]);
  CHECK(state.document.walk.playlist.pages[0] == before.pages[1]);
  CHECK(state.document.walk.changed);
}

TEST_CASE("pages that were not saved are kept when others take their place, and come back") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  WindowState& state = bench.state();
  state.document.kept_folder = folder.file("state");
  command(bench, CommandId::new_playlist);
  bench.ui->type("mine").key("Escape").key("Escape");
  const Playlist mine = state.document.walk.playlist;
  start_walk(state, lesson_playlist("first_walk"));
  bench.ui->run_frames(2);
  REQUIRE(state.view.notices.notices.size() == 1);
  CHECK_CONTAINS(state.view.notices.notices[0].text, "Reopen unsaved playlist");
  command(bench, CommandId::reopen_playlist);
  CHECK(state.document.walk.playlist == mine);
  CHECK(state.document.walk.changed);
}

TEST_CASE("what is in the window when it is closed can be reopened the next time") {
  const TemporaryFolder folder;
  {
    WINDOW_OR_SKIP(bench, open_window(1280, 900));
    bench.state().document.kept_folder = folder.file("state");
    keep_all_unsaved(bench.state().document);
    CHECK_FALSE(fs::exists(folder.file("state")));  // nothing was done
    bench.ui->key("C");
    start_walk(bench.state(), lesson_playlist("questions"));
    keep_all_unsaved(bench.state().document);
  }
  WindowBench bench = open_window(1280, 900);
  bench.state().document.kept_folder = folder.file("state");
  command(bench, CommandId::reopen_scenario);
  CHECK(bench.scenario().mask.is_causal);
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == preset_scenario("hand_made"));
  command(bench, CommandId::reopen_playlist);  // the lesson is in the program: it was not kept
  CHECK_FALSE(bench.walk().page);
  CHECK(bench.state().view.notices.notices.size() == 1);
}

TEST_CASE("a file that exists is replaced at the second word only, and a name must end as its kind does") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const FileDialogState& dialog = bench.state().dialogs.files;
  const std::string readme = folder.with_file("README.md", "words");
  const std::string other = folder.with_file("other.json", "{}");
  bench.ui->key("Ctrl+S");
  type_path(bench, readme);
  CHECK(dialog.open);
  CHECK_CONTAINS(dialog.error, ".json");
  CHECK(fs::file_size(readme) == 5);
  type_path(bench, other);
  CHECK(dialog.open);
  CHECK(fs::file_size(other) == 2);
  bench.ui->click("file_dialog/accept");
  CHECK_FALSE(dialog.open);
  CHECK(read_scenario_file(other) == bench.scenario());
  // It is the file at hand now: saving again asks nothing.
  bench.ui->key("C").key("Ctrl+S").key("Enter");
  CHECK_FALSE(dialog.open);
  CHECK(read_scenario_file(other).mask.is_causal);
}

TEST_CASE("an export over a file that exists asks first") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const std::string picture = folder.with_file("picture.csv", "old");
  bench.ui->key("Ctrl+E");
  type_path(bench, picture);
  CHECK(bench.state().dialogs.export_dialog.open);
  CHECK(fs::file_size(picture) == 3);
  bench.ui->key("Enter");
  CHECK_FALSE(bench.state().dialogs.export_dialog.open);
  CHECK(fs::file_size(picture) > 3);
}

TEST_CASE("on the pages of one's own playlist, saving saves the playlist, and says what is not part of it") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const WindowState& state = bench.state();
  const std::string path = lesson_file(folder);
  drop(bench, path);
  bench.walk().playlist.pages[0].title = "Mine";
  bench.ui->key("Ctrl+S");
  CHECK_FALSE(state.dialogs.files.open);
  CHECK(read_playlist_file(path).pages[0].title == "Mine");
  CHECK(state.view.notices.notices.back().text == "Saved the playlist, 3 pages, in " + path + ".");
  bench.ui->key("M").key("Ctrl+S");
  CHECK(state.view.notices.notices.back().text.ends_with("What you changed on this page is not part of it."));
  CHECK(read_playlist_file(path) == state.document.walk.playlist);

  // A lesson of the program is no file: its page's scenario is what can be saved,
  // and not over the user's own.
  bench.state().document.scenario_path = folder.with_file("own.json", "own");
  start_walk(bench.state(), lesson_playlist("break_it"));
  bench.ui->run_until_still().key("Ctrl+S");
  REQUIRE(state.dialogs.files.open);
  CHECK(state.dialogs.files.purpose == FileDialogPurpose::save_scenario);
  CHECK(state.dialogs.files.path != folder.file("own.json"));
}

TEST_CASE("a page that leaves open what its model determines is not changed by being opened") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const std::string path =
      folder.with_file("pages.json", R"({ "headwise_playlist": 1, "pages": [ { "title": "Model",
    "scenario": { "headwise": 1, "inputs": { "source": "text", "text": "the animal was tired ." },
                  "parameters": { "source": "model", "file": "builtin:sentences", "layer": 1 } },
    "step": "scores", "caption": "Words." } ] })");
  drop(bench, path);
  bench.ui->run_until_still();
  REQUIRE(bench.walk().page);
  bench.ui->key("Ctrl+S");
  CHECK(bench.state().view.notices.notices.back().text == "Saved the playlist, 1 page, in " + path + ".");
}

TEST_CASE("a new playlist is offered to be saved under the title of its first page") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  WindowState& state = bench.state();
  new_playlist(state);
  for (const auto& [title, name] : {std::pair{"What: is / attention?", "/What is  attention.json"},
                                    {"...", "/playlist.json"},
                                    {"", "/playlist.json"}}) {
    state.document.walk.playlist.pages[0].title = title;
    ask_for_playlist(state);
    CHECK(state.dialogs.files.path.ends_with(name));
    state.dialogs.files = {};
  }
}
