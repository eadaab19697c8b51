// Pictures of the stage, taken while the window is open.
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "app/platform/desktop_program.h"
#include "app/window/page_turns.h"
#include "app/window/slides.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_commands.h"
#include "app/window/window_pictures.h"
#include "core/tensor/error.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/export/read_png.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/environment_variable.h"

using namespace headwise;

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("a picture of the stage has the theme's ground, changes nothing in the window, is the same twice") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.ui->key("Right").run_until_still().run_frames(3);
  const Image window_before = bench.ui->pixels();
  StagePictures pictures(800, 450, Theme::light);
  const Image picture = pictures.image(bench.state());
  CHECK(picture.width == 800);
  CHECK(picture.height == 450);
  CHECK(picture.rgba[0] == 255);
  CHECK(picture.rgba[4 * (800 * 449)] == 255);
  CHECK(pictures.image(bench.state()).rgba == picture.rgba);
  CHECK(bench.state().view.settings.theme == Theme::dark);
  bench.ui->run_frames(3);
  CHECK(bench.ui->pixels().rgba == window_before.rgba);
  CHECK(bench.ui->has("stage/result"));
}

TEST_CASE("the stage is saved as a picture and as vectors, and a step's motion as an animation") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.ui->key("Right").run_until_still();
  const auto save = [&](CommandId command, const std::string& path) {
    perform(bench.state(), CommandCall{command});
    bench.ui->run_frames(3).key("Ctrl+A").type(path).key("Enter");
  };
  save(CommandId::save_stage_picture, folder.file("stage.svg"));
  const std::string svg = content_of(folder.file("stage.svg"));
  CHECK_CONTAINS(svg, ">Project</text>");
  save(CommandId::save_stage_picture, folder.file("stage"));
  CHECK(content_of(folder.file("stage.png")).starts_with("\x89PNG"));
  CHECK_FALSE(bench.state().dialogs.files.open);

  bench.state().view.notices.dismiss_all();
  bench.ui->key("Home");
  perform(bench.state(), CommandCall{CommandId::save_motion});
  CHECK_FALSE(bench.state().dialogs.files.open);
  CHECK(bench.state().view.notices.notices.size() == 1);

  StagePictures pictures(320, 200, Theme::dark);
  perform(bench.state(), CommandCall{CommandId::last_step});
  bench.ui->run_until_still();
  const MotionState before = bench.state().view.motion;
  const std::vector<std::uint8_t> motion = pictures.motion(bench.state());
  const std::string bytes(motion.begin(), motion.end());
  CHECK_CONTAINS(bytes, "acTL");
  CHECK_CONTAINS(bytes, "fdAT");
  CHECK(bench.state().view.motion.progress == before.progress);
  // A program that shows only the first picture shows the finished step.
  CHECK(decoded_png(motion).rgba == pictures.image(bench.state()).rgba);
}

TEST_CASE("a motion is saved picture by picture while the window stays alive, or given up and not written") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 800));
  WindowState& window = bench.state();
  perform(window, CommandCall{CommandId::last_step});
  bench.ui->run_until_still();
  const std::string path = folder.file("motion.png");

  save_motion(window, path);
  bench.ui->run_frames(4);
  CHECK(bench.ui->has("status/progress"));
  CHECK(bench.ui->result().animating);
  bench.ui->key("Escape");
  CHECK_FALSE(window.view.recording);
  CHECK_FALSE(bench.ui->has("status/progress"));
  CHECK_FALSE(fs::exists(path));

  save_motion(window, path);
  bench.ui->run_frames(2);
  perform(window, CommandCall{CommandId::first_step});
  bench.ui->run_frames(2);
  CHECK_FALSE(window.view.recording);
  CHECK_FALSE(fs::exists(path));
  CHECK_CONTAINS(window.view.notices.notices.back().text, "was not saved");

  perform(window, CommandCall{CommandId::last_step});
  bench.ui->run_until_still();
  save_motion(window, path);
  for (int i = 0; window.view.recording && i < 100; ++i) {
    CHECK_FALSE(fs::exists(path));
    bench.ui->run_frames(1);
  }
  REQUIRE(fs::exists(path));
  const std::string bytes = content_of(path);
  CHECK(bytes.starts_with("\x89PNG"));
  CHECK_CONTAINS(bytes, "acTL");
  CHECK(window.document.picture_path == path);
}

TEST_CASE("an image is handed to the desktop's clipboard program without a shell, else its file is told") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", folder.file("cache dir")),
      display("DISPLAY", ":99"), wayland("WAYLAND_DISPLAY", "");
  {
    const test::EnvironmentVariable path("PATH", folder.file("nothing"));
    CHECK_FALSE(find_clipboard_program());
    copy_map_image(bench.state());
    const std::string file = folder.file("cache dir/headwise/clipboard.png");
    CHECK(content_of(file).starts_with("\x89PNG"));
    REQUIRE(bench.state().view.notices.notices.size() == 1);
    CHECK_CONTAINS(bench.state().view.notices.notices[0].text, file);
  }
  // A stand-in that keeps what it is given.
  fs::create_directories(folder.file("bin"));
  const std::string program =
      folder.with_file("bin/xclip", "#!/bin/sh\ncat > '" + folder.file("got") + ".part'\necho \"$@\" > '" +
                                        folder.file("words") + "'\nmv '" + folder.file("got") + ".part' '" +
                                        folder.file("got") + "'\n");
  chmod(program.c_str(), 0755);
  const test::EnvironmentVariable path("PATH", folder.file("bin") + ":/usr/bin:/bin");
  copy_stage_image(bench.state());
  for (int i = 0; i < 500 && !fs::exists(folder.file("got")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(content_of(folder.file("got")) == content_of(folder.file("cache dir/headwise/clipboard.png")));
  CHECK(content_of(folder.file("words")) == "-selection clipboard -t image/png -i\n");
}

TEST_CASE("Ctrl+E takes what is seen, in every view, as a picture and as vectors") {
  const TemporaryFolder folder;
  const struct {
    StageView view;
    const char* words;  // which only this view writes
  } views[] = {{StageView::one_head, ">max</text>"},
               {StageView::all_heads, "attn_weights, all heads"},
               {StageView::tokens, "of the attention that each"},
               {StageView::elementwise, "elementwise product"},
               {StageView::gradients, "grad.attn_weights"},
               {StageView::compare, "difference"},
               {StageView::memory, "offset ="},
               {StageView::prediction, "original"},
               {StageView::head_rows, "a noun for “it”</text>"},
               {StageView::query_key_plane, "The plane keeps"}};
  WINDOW_OR_SKIP(bench, open_window(1280, 900, preset_scenario("welcome")));
  WindowState& window = bench.state();
  for (const auto& each : views) {
    const std::string word(stage_view_words[static_cast<std::size_t>(each.view)]);
    CAPTURE(word);
    window.view.selection.view = each.view;
    window.view.selection.compare_with = CompareWith::scale;
    window.view.selection.step = each.view == StageView::memory ? Step::split_heads : Step::softmax;
    bench.ui->run_until_still();
    for (const char* ending : {".svg", ".pdf", ".png"}) {
      bench.ui->key("Ctrl+E");
      REQUIRE(window.dialogs.export_dialog.open);
      CHECK(window.dialogs.export_dialog.path.ends_with(".png"));
      if (each.view == StageView::tokens) bench.ui->save_png("export_dialog");
      bench.ui->key("Ctrl+A");
      bench.ui->type(folder.file(word + ending)).key("Enter");
      REQUIRE_FALSE(window.dialogs.export_dialog.open);
    }
    const std::string svg = content_of(folder.file(word + ".svg"));
    CHECK_CONTAINS(svg, each.words);
    CHECK_LACKS(svg, ">One head</text>");  // nothing to click
    CHECK(content_of(folder.file(word + ".pdf")).starts_with("%PDF-"));
    StagePictures pictures(StagePictures::usual_width, StagePictures::usual_height, Theme::light);
    const std::string png = content_of(folder.file(word + ".png"));
    CHECK(decoded_png({png.begin(), png.end()}).rgba == pictures.image(window).rgba);
  }
}

TEST_CASE("an export has what was chosen on the stage: the lines of Tokens, the query of q∘k") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.ui->click("step_bar/step/6").click("stage/view/Tokens").click("stage/share/95 %");
  bench.ui->click("stage/direction/key gets").key("Ctrl+E").key("Ctrl+A").type(folder.file("tokens.svg"));
  bench.ui->key("Enter");
  CHECK_CONTAINS(content_of(folder.file("tokens.svg")),
                 "the strongest 95 % of the attention that each key gets");
}

TEST_CASE("a map alone, a table and an array can still be exported, and the dialog says which it is") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  WindowState& window = bench.state();
  bench.ui->click("step_bar/step/6").run_until_still().key("Ctrl+E");
  CHECK_FALSE(bench.ui->has("export/cell_pixels"));
  bench.ui->click("export/subject/this map");
  CHECK_FALSE(window.dialogs.export_dialog.stage);
  CHECK(bench.ui->has("export/cell_pixels"));
  bench.ui->click("export/path").key("Ctrl+A").type(folder.file("map.png")).key("Enter");
  const std::string png = content_of(folder.file("map.png"));
  CHECK(decoded_png({png.begin(), png.end()}).width < 800);
  // Numbers are always those of the map; there is nothing to choose.
  bench.ui->key("Ctrl+E");
  CHECK(window.dialogs.export_dialog.stage);
  bench.ui->key("Ctrl+A").type(folder.file("map.CSV")).run_frames(2);
  CHECK_FALSE(bench.ui->has("export/subject/the stage"));
  bench.ui->key("Enter");
  CHECK_CONTAINS(content_of(folder.file("map.CSV")), "animal");
}

TEST_CASE("what a page hides until it is answered is hidden in an export too, and its numbers are refused") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  WindowState& window = bench.state();
  Playlist playlist;
  playlist.pages.push_back({});
  PlaylistPage& page = playlist.pages.back();
  page.scenario = std::make_shared<const Scenario>(bench.scenario());
  page.step = Step::softmax;
  page.ask = "Where does it look?";
  page.veil = true;
  start_walk(window, playlist);
  bench.ui->run_until_still();
  const auto export_to = [&](const char* name) {
    bench.ui->key("Ctrl+E").key("Ctrl+A");
    bench.ui->type(folder.file(name)).key("Enter");
  };
  export_to("hidden.svg");
  CHECK_CONTAINS(content_of(folder.file("hidden.svg")), "hidden until you answer");
  export_to("hidden.csv");
  CHECK(window.dialogs.export_dialog.open);
  CHECK_FALSE(fs::exists(folder.file("hidden.csv")));
  CHECK_CONTAINS(window.dialogs.export_dialog.error, ".png, .svg or .pdf");
  bench.ui->click("export/cancel").key("PageDown").run_until_still();
  export_to("told.csv");
  CHECK(fs::exists(folder.file("told.csv")));
}

TEST_CASE("the slides of a playlist are saved from the window, as the command line makes them") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 800));
  WindowState& window = bench.state();
  perform(window, CommandCall{CommandId::save_slides});
  CHECK_FALSE(window.dialogs.files.open);  // there is no playlist yet
  bench.ui->push(FilesDropped{{folder.with_file("talk.json", R"({ "headwise_playlist": 1, "pages": [
    { "scenario": "hand_made", "step": "scores", "caption": "Scores." },
    { "step": "softmax", "veil": true, "ask": "How much?", "caption": "{attn_weights[0,0,8,7]}." } ] })")}});
  bench.ui->run_until_still();
  bench.ui->key("M");  // the window's own page may be changed: the slides are the playlist's
  bench.ui->run_until_still();
  const Scenario before = bench.scenario();
  perform(window, CommandCall{CommandId::save_slides});
  REQUIRE(window.dialogs.files.open);
  CHECK(window.dialogs.files.path.ends_with("/slides.png"));
  bench.ui->run_frames(1).key("Enter");
  for (int i = 0; window.view.recording && i < 100; ++i) {
    CHECK_FALSE(fs::exists(folder.file("slides-01.png")));  // all are written, or none
    bench.ui->run_frames(1);
  }
  CHECK(bench.scenario() == before);
  CHECK(window.document.walk.page == 0);

  const Playlist& playlist = window.document.walk.playlist;
  StagePictures pictures(StagePictures::usual_width, StagePictures::usual_height, window.view.settings.theme,
                         StagePictures::Look::presentation);
  WindowState other(preset_scenario("welcome"));
  for (const SlideName& name : slide_names(playlist)) {
    CAPTURE(name.name);
    CHECK(show_slide(other, playlist, name.page, name.asks).empty());
    const std::vector<std::uint8_t> bytes = to_png(pictures.image(other));
    CHECK(content_of(folder.file("slides-" + name.name + ".png")) == std::string(bytes.begin(), bytes.end()));
  }
  CHECK(slide_names(playlist).size() == 3);

  // What is there stays: another name is asked for.
  perform(window, CommandCall{CommandId::save_slides});
  bench.ui->run_frames(1).key("Enter");
  CHECK(window.dialogs.files.open);
  CHECK_CONTAINS(window.dialogs.files.error, "slides-01.png");
  bench.ui->key("Escape");
  CHECK_THROWS_AS(save_slides(window, folder.file("slides.svg")), Error);

  // Or as one file with a page for each.
  save_slides(window, folder.file("slides.pdf"));
  for (int i = 0; window.view.recording && i < 100; ++i) bench.ui->run_frames(1);
  CHECK_CONTAINS(content_of(folder.file("slides.pdf")), "/Count 3");
}
