// Pictures of the stage, taken while the window is open.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/platform/image_clipboard.h"
#include "app/window/stage_pictures.h"
#include "app/window/window_commands.h"
#include "app/window/window_pictures.h"
#include "tests/app/window_bench.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// An environment variable for one test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace

TEST_CASE(
    "a picture of the stage has the theme's ground, changes nothing in the window and is the same twice") {
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  bench.ui->key("Right");
  bench.ui->run_until_still();
  bench.ui->run_frames(3);
  const Image window_before = bench.ui->pixels();
  StagePictures pictures(800, 450, Theme::light);
  const Image picture = pictures.image(bench.window->state());
  CHECK(picture.width == 800);
  CHECK(picture.height == 450);
  CHECK(picture.rgba[0] == 255);
  CHECK(picture.rgba[4 * (800 * 449)] == 255);
  CHECK(pictures.image(bench.window->state()).rgba == picture.rgba);
  CHECK(bench.window->state().view.settings.theme == Theme::dark);
  bench.ui->run_frames(3);
  CHECK(bench.ui->pixels().rgba == window_before.rgba);
  CHECK(bench.ui->has("stage/result"));
}

TEST_CASE("the stage is saved as a picture and as vectors, and a step's motion as an animation") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  bench.ui->key("Right");
  bench.ui->run_until_still();
  const auto save = [&](CommandId command, const std::string& path) {
    perform(bench.window->state(), CommandCall{command});
    bench.ui->run_frames(3);
    bench.ui->key("Ctrl+A");
    bench.ui->type(path);
    bench.ui->key("Enter");
  };
  save(CommandId::save_stage_picture, folder.file("stage.svg"));
  const std::string svg = read(folder.file("stage.svg"));
  CHECK(svg.find(">Project</text>") != std::string::npos);
  save(CommandId::save_stage_picture, folder.file("stage"));
  CHECK(read(folder.file("stage.png")).starts_with("\x89PNG"));
  CHECK_FALSE(bench.window->state().dialogs.files.open);

  bench.window->state().view.notices.dismiss_all();
  bench.ui->key("Home");
  perform(bench.window->state(), CommandCall{CommandId::save_motion});
  CHECK_FALSE(bench.window->state().dialogs.files.open);
  CHECK(bench.window->state().view.notices.notices.size() == 1);

  StagePictures pictures(320, 200, Theme::dark);
  perform(bench.window->state(), CommandCall{CommandId::last_step});
  bench.ui->run_until_still();
  const MotionState before = bench.window->state().view.motion;
  const std::vector<std::uint8_t> motion = pictures.motion(bench.window->state());
  const std::string bytes(motion.begin(), motion.end());
  CHECK(bytes.find("acTL") != std::string::npos);
  CHECK(bytes.find("fdAT") != std::string::npos);
  CHECK(bench.window->state().view.motion.progress == before.progress);
}

TEST_CASE("a motion is saved picture by picture while the window stays alive, or given up and not written") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 800);
  if (!bench.ui) return;
  WindowState& window = bench.window->state();
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
  CHECK(window.view.notices.notices.back().text.find("was not saved") != std::string::npos);

  perform(window, CommandCall{CommandId::last_step});
  bench.ui->run_until_still();
  save_motion(window, path);
  for (int i = 0; window.view.recording && i < 100; ++i) {
    CHECK_FALSE(fs::exists(path));
    bench.ui->run_frames(1);
  }
  REQUIRE(fs::exists(path));
  const std::string bytes = read(path);
  CHECK(bytes.starts_with("\x89PNG"));
  CHECK(bytes.find("acTL") != std::string::npos);
  CHECK(window.document.picture_path == path);
}

TEST_CASE("an image is handed to the desktop's clipboard program without a shell, else its file is told") {
  const TemporaryFolder folder;
  WindowBench bench = open_window(1280, 900);
  if (!bench.ui) return;
  const Environment cache("XDG_CACHE_HOME", folder.file("cache dir")), display("DISPLAY", ":99"),
      wayland("WAYLAND_DISPLAY", "");
  {
    const Environment path("PATH", folder.file("nothing"));
    CHECK_FALSE(find_clipboard_program());
    copy_map_image(bench.window->state());
    const std::string file = folder.file("cache dir/headwise/clipboard.png");
    CHECK(read(file).starts_with("\x89PNG"));
    REQUIRE(bench.window->state().view.notices.notices.size() == 1);
    CHECK(bench.window->state().view.notices.notices[0].text.find(file) != std::string::npos);
  }
  // A stand-in that keeps what it is given.
  fs::create_directories(folder.file("bin"));
  const std::string program =
      folder.with_file("bin/xclip", "#!/bin/sh\ncat > '" + folder.file("got") + ".part'\necho \"$@\" > '" +
                                        folder.file("words") + "'\nmv '" + folder.file("got") + ".part' '" +
                                        folder.file("got") + "'\n");
  chmod(program.c_str(), 0755);
  const Environment path("PATH", folder.file("bin") + ":/usr/bin:/bin");
  copy_stage_image(bench.window->state());
  for (int i = 0; i < 500 && !fs::exists(folder.file("got")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(read(folder.file("got")) == read(folder.file("cache dir/headwise/clipboard.png")));
  CHECK(read(folder.file("words")) == "-selection clipboard -t image/png -i\n");
}
