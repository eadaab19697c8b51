// Steps move into each other, can be held and dragged, and then nothing moves any more.
#include <doctest/doctest.h>

#include "tests/app/window_bench.h"

using namespace headwise;

TEST_CASE("the next step is made before the eyes, in less than a second, and then the window is still") {
  WINDOW_OR_SKIP(bench, open_window());
  for (int step = 1; step < step_count; ++step) {
    bench.ui->key("Right");
    CHECK(bench.window->state().view.motion.running);
    const Image early = bench.ui->pixels();
    bench.ui->run_frames(30);
    const Image later = bench.ui->pixels();
    CHECK(early.rgba != later.rgba);
    bench.ui->run_frames(30);
    CHECK_FALSE(bench.window->state().view.motion.running);
    CHECK(bench.ui->run_until_still(10));
  }
}

TEST_CASE("what a motion ends with is the still picture of its step, to the pixel") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("C");
  for (int step = 1; step + 1 < step_count; ++step) {
    bench.ui->key("Right");
    bench.ui->run_frames(70);
    const Image made = bench.ui->pixels();
    bench.ui->key("Right");
    bench.ui->key("Left");  // back without a motion
    bench.ui->run_frames(5);
    CHECK(bench.selection().step == static_cast<Step>(step));
    CHECK(bench.ui->pixels().rgba == made.rgba);
  }
}

TEST_CASE("the timeline is dragged back and forth, and stands where it is held") {
  WINDOW_OR_SKIP(bench, open_window());
  const UiRect line = bench.ui->rect("step_bar/timeline");
  const float y = (line.min.y + line.max.y) / 2;
  bench.ui->drag(line.min.x + 5, y, line.min.x + 0.5f * (line.max.x - line.min.x), y);
  const Step reached = bench.selection().step;
  const double progress = bench.window->state().view.motion.progress;
  CHECK(reached > Step::project);
  CHECK(reached < Step::output);
  bench.ui->run_frames(30);
  CHECK(bench.window->state().view.motion.progress == progress);
  CHECK(bench.ui->run_until_still(10));
  bench.ui->drag(line.min.x + 0.5f * (line.max.x - line.min.x), y, line.min.x + 5, y);
  CHECK(bench.selection().step == Step::inputs);
}

TEST_CASE("the slider beside the steps sets the speed of the motion, and the keys move it") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  UiDriver& ui = *bench.ui;
  const auto speed = [&] { return bench.window->state().view.settings.motion_speed; };
  const UiRect slider = ui.rect("step_bar/speed");
  const float y = 0.5f * (slider.min.y + slider.max.y);
  ui.drag(slider.min.x + 20, y, slider.max.x - 1, y);
  CHECK(speed() == Settings::fastest_motion);
  ui.drag(slider.max.x - 6, y, slider.min.x + 1, y);
  CHECK(speed() == Settings::slowest_motion);
  ui.double_click("step_bar/speed");
  CHECK(speed() == 1.0f);
  ui.key(",");
  CHECK(speed() == 0.5f);
  ui.key(".");
  CHECK(speed() == 1.0f);
  // Four times as fast: the same motion in a quarter of the frames.
  ui.key("Home");
  ui.run_until_still();
  ui.drag(slider.min.x + 20, y, slider.max.x - 1, y);
  ui.key("Right");
  ui.run_frames(12);
  CHECK(bench.window->state().view.motion.progress == 1.0);
}

TEST_CASE("a second press goes on at once, and play goes on where a motion is held") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("Right");
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::split_heads);
  bench.ui->key("Space");
  bench.ui->key("Space");  // held
  const double held = bench.window->state().view.motion.progress;
  CHECK(held < 1.0);
  bench.ui->run_frames(20);
  CHECK(bench.window->state().view.motion.progress == held);
  bench.ui->key("Space");
  bench.ui->run_frames(70);
  CHECK(bench.window->state().view.motion.progress == 1.0);
  CHECK(bench.selection().step == Step::split_heads);
}

TEST_CASE("with reduced motion the pictures fade, and speed is a setting that is remembered") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key(".");
  CHECK(bench.window->state().view.settings.motion_speed == 2.0f);
  bench.ui->key(",");
  bench.ui->key(",");
  CHECK(bench.window->state().view.settings.motion_speed == 0.5f);
  bench.ui->click("menu/View");
  bench.ui->click("menu/Reduce motion");
  CHECK(bench.window->state().view.settings.reduce_motion);
  bench.ui->key("Right");
  bench.ui->run_frames(10);
  const Image fading = bench.ui->pixels();
  bench.ui->run_frames(120);
  CHECK(fading.rgba != bench.ui->pixels().rgba);
  CHECK(bench.window->state().view.motion.progress == 1.0);
}

TEST_CASE("no words of the result stand where its left operand still passes") {
  // With the mask's place above it, and without a mask:
  // the scores come from where the masked scores will stand.
  for (const char* preset : {"hand_made", "welcome"}) {
    WINDOW_OR_SKIP(bench, open_window(1280, 720, preset_scenario(preset)));
    bench.window->state().view.selection.step = Step::scale;
    bench.ui->run_until_still();
    bench.ui->key("Right");
    int on_the_way = 0;
    for (int i = 0; i < 80 && bench.window->state().view.motion.running; ++i) {
      const bool has_sign = bench.ui->has("says/no mask");
      if (!has_sign) ++on_the_way;
      if (has_sign) CHECK(bench.ui->rect("says/no mask").min.x >= bench.ui->rect("stage/left").max.x);
      bench.ui->run_frames(1);
    }
    CHECK(on_the_way > 0);
    bench.ui->run_until_still();
    CHECK(bench.ui->has("says/no mask"));
  }
}
