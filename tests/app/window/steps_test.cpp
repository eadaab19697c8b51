// Going from step to step, and the motion between two.
#include <doctest/doctest.h>

#include <cmath>

#include "app/content/stage_matrix.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"

using namespace headwise;

TEST_CASE("the window opens on the first step, with the keys going to the stage") {
  WINDOW_OR_SKIP(bench, open_window());
  CHECK(bench.selection().step == Step::inputs);
  CHECK(bench.state().view.focus.focused == 0);
  CHECK(bench.session().error().empty());
  CHECK(bench.trace().tensors.output != nullptr);
}

TEST_CASE("arrows, Page keys, Home and End step, and stop at both ends") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("Left");
  CHECK(bench.selection().step == Step::inputs);
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::project);
  bench.ui->key("PageDown");
  CHECK(bench.selection().step == Step::split_heads);
  bench.ui->key("Left").key("PageUp");
  CHECK(bench.selection().step == Step::inputs);
  bench.ui->key("End");
  CHECK(bench.selection().step == Step::output);
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::output);
  bench.ui->key("Home");
  CHECK(bench.selection().step == Step::inputs);
}

TEST_CASE("taps that are shorter than a frame are all counted") {
  WINDOW_OR_SKIP(bench, open_window());
  for (int i = 0; i < 5; ++i) {
    bench.ui->push(KeyChanged{static_cast<int>(Key::right), true});
    bench.ui->push(KeyChanged{static_cast<int>(Key::right), false});
  }
  bench.ui->run_frames(30);
  CHECK(bench.selection().step == Step::mask);
}

TEST_CASE("a click on a step looks at it, and at another picture of the screen") {
  WINDOW_OR_SKIP(bench, open_window());
  const Image before = bench.ui->pixels();
  bench.ui->click("step_bar/step/6");
  CHECK(bench.selection().step == Step::softmax);
  CHECK(bench.ui->pixels().rgba != before.rgba);
  bench.ui->click("step_bar/back");
  CHECK(bench.selection().step == Step::mask);
  bench.ui->click("step_bar/forward");
  CHECK(bench.selection().step == Step::softmax);
}

TEST_CASE("a pin says where it is while the stage shows another step, another head or another sequence") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720, with_setting(preset_scenario("random"), "inputs.batch=2")));
  const auto says = [&](const char* words) {
    bench.ui->run_frames(3);
    return bench.ui->has(std::string("says/THIS CELL: ") + words);
  };
  Selection& selection = bench.selection();
  selection.step = Step::softmax;
  selection.head = 2;
  selection.pinned = CellRef{{TensorId::attn_weights}, {0, 2, 1, 3}};
  CHECK(says("PINNED · ESC UNPINS"));
  // The same pair at the step that is shown ...
  selection.step = Step::scale;
  CHECK(says("PINNED · ESC UNPINS"));
  CHECK(focused_cell(bench.trace(), selection) == CellRef{{TensorId::scaled_scores}, {0, 2, 1, 3}});
  CHECK(bench.ui->has("status/cell"));
  selection.head = 1;
  CHECK(says("PINNED IN HEAD 2"));
  // ... and where a step makes no map of pairs, the number that was pinned.
  selection.step = Step::concat;
  CHECK(says("PINNED AT SOFTMAX, IN HEAD 2"));
  CHECK(focused_cell(bench.trace(), selection) == selection.pinned);
  selection.batch = 1;
  selection.step = Step::softmax;
  selection.head = 2;
  CHECK(says("PINNED IN SEQUENCE 0"));
}

TEST_CASE("Space walks through the steps by itself, and the program sleeps in between") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("Space");
  CHECK(bench.state().view.steps.playing);
  bench.ui->run_frames(3);
  CHECK_FALSE(bench.ui->result().animating);
  CHECK(bench.ui->result().wake_after > 0.3);
  CHECK(bench.ui->result().wake_after <= seconds_per_step);
  bench.ui->run_frames(2, seconds_per_step);
  CHECK(bench.selection().step == Step::split_heads);
  bench.ui->key("Escape");
  CHECK_FALSE(bench.state().view.steps.playing);
  bench.ui->run_frames(3, seconds_per_step);
  CHECK(bench.selection().step == Step::split_heads);
}

TEST_CASE("a window at rest asks for no further frame") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->run_frames(5);
  CHECK_FALSE(bench.ui->result().animating);
  CHECK(std::isinf(bench.ui->result().wake_after));
}

TEST_CASE("while a text is edited the arrows move in the text and letters are typed") {
  WINDOW_OR_SKIP(bench, open_window());
  const Scenario before = bench.scenario();
  bench.ui->click("setup/text");
  CHECK(bench.state().view.focus.focused != 0);
  bench.ui->key("Right").key("Left");
  CHECK(bench.selection().step == Step::inputs);
  // C and T are commands elsewhere.
  bench.ui->push(KeyChanged{'C', true}).push(TextEntered{U'c'}).push(KeyChanged{'C', false}).run_frames(6);
  CHECK_FALSE(bench.scenario().mask.is_causal);
  CHECK(bench.scenario().inputs.text.size() == before.inputs.text.size() + 1);
  // Escape gives the keys back to the stage.
  bench.ui->key("Escape");
  CHECK(bench.state().view.focus.focused == 0);
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::project);
}

TEST_CASE("digits and arrows look at heads") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("5");
  CHECK(bench.selection().head == 5);
  bench.ui->key("Down");
  CHECK(bench.selection().head == 6);
  bench.ui->key("Up").key("Up");
  CHECK(bench.selection().head == 4);
  bench.ui->key("9");  // there are eight
  CHECK(bench.selection().head == 4);
}

TEST_CASE("F1 shows the keys, and nothing behind the sheet takes any") {
  WindowBench bench = open_window(900, 1550);  // the steps lie above the sheet
  if (!bench.ui) return;
  bench.ui->key("F1");
  CHECK(bench.ui->has("overlay/keys"));
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::inputs);
  bench.ui->click("step_bar/step/3");
  CHECK(bench.selection().step == Step::inputs);
  CHECK_FALSE(bench.ui->has("overlay/keys"));  // a click beside the sheet closes it
  bench.ui->key("F1");
  CHECK(bench.ui->has("overlay/keys"));
  bench.ui->key("F1");
  CHECK_FALSE(bench.ui->has("overlay/keys"));
  bench.ui->key("F1").key("Escape");
  CHECK_FALSE(bench.ui->has("overlay/keys"));
  CHECK_FALSE(bench.state().dialogs.help.keys);
  bench.ui->key("Right");
  CHECK(bench.selection().step == Step::project);
}

TEST_CASE("every command of the menus can be clicked") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->click("menu/Edit");
  bench.ui->click("menu/Causal mask");
  CHECK(bench.scenario().mask.is_causal);
  // Escape closes an open menu and nothing else.
  bench.selection().pinned = CellRef{{TensorId::query}, {0, 0, 0}};
  bench.ui->click("menu/Edit").key("Escape");
  CHECK_FALSE(bench.ui->has("menu/Causal mask"));
  CHECK(bench.selection().pinned.has_value());
  bench.ui->click("menu/View").click("menu/Last step");
  CHECK(bench.selection().step == Step::output);
  bench.ui->click("menu/Help").click("menu/About Headwise");
  CHECK(bench.state().dialogs.help.about);
  bench.ui->key("Escape").click("menu/File").click("menu/Quit");
  CHECK(bench.ui->result().quit);
}

TEST_CASE("Tab goes through the controls in their order and back to the stage") {
  WINDOW_OR_SKIP(bench, open_window());
  const FocusOrder& focus = bench.state().view.focus;
  const std::size_t count = focus.window.size();
  REQUIRE(count > 20);
  for (std::size_t i = 0; i < count; ++i) {
    bench.ui->key("Tab");
    CHECK(focus.focused == focus.window[i].id);
  }
  bench.ui->key("Tab");
  CHECK(focus.focused == 0);
  bench.ui->key("Shift+Tab");
  CHECK(focus.focused == focus.window.back().id);
}

TEST_CASE("a click on a choice leaves the arrows with the steps; Tab gives them to the choice") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->click("setup/causal/on");
  CHECK(bench.scenario().mask.is_causal);
  bench.ui->key("Right");
  CHECK(bench.scenario().mask.is_causal);
  CHECK(bench.selection().step == Step::project);

  bench.ui->click("setup/window");  // behind it: aligned, pattern, valid length
  for (int i = 0; i < 4; ++i) bench.ui->key("Shift+Tab");
  bench.ui->key("Left");
  CHECK_FALSE(bench.scenario().mask.is_causal);
  CHECK(bench.selection().step == Step::project);
  bench.ui->key("Space");
  CHECK(bench.scenario().mask.is_causal);
  CHECK_FALSE(bench.state().view.steps.playing);
}

TEST_CASE("the next step is made before the eyes, in less than a second, and then the window is still") {
  WINDOW_OR_SKIP(bench, open_window());
  for (std::size_t step = 1; step < shown_steps({}).size(); ++step) {
    bench.ui->key("Right");
    CHECK(bench.state().view.motion.running);
    const Image early = bench.ui->pixels();
    bench.ui->run_frames(30);
    const Image later = bench.ui->pixels();
    CHECK(early.rgba != later.rgba);
    bench.ui->run_frames(30);
    CHECK_FALSE(bench.state().view.motion.running);
    CHECK(bench.ui->becomes_still(10));
  }
}

TEST_CASE("what a motion ends with is the still picture of its step, to the pixel") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("C");
  for (std::size_t step = 1; step + 1 < shown_steps({}).size(); ++step) {
    bench.ui->key("Right").run_frames(70);
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
  const double progress = bench.state().view.motion.progress;
  CHECK(reached > Step::project);
  CHECK(reached < Step::output);
  bench.ui->run_frames(30);
  CHECK(bench.state().view.motion.progress == progress);
  CHECK(bench.ui->becomes_still(10));
  bench.ui->drag(line.min.x + 0.5f * (line.max.x - line.min.x), y, line.min.x + 5, y);
  CHECK(bench.selection().step == Step::inputs);
}

TEST_CASE("the slider beside the steps sets the speed of the motion, and the keys move it") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  UiDriver& ui = *bench.ui;
  const auto speed = [&] { return bench.state().view.settings.motion_speed; };
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
  ui.key("Home").run_until_still();
  ui.drag(slider.min.x + 20, y, slider.max.x - 1, y).key("Right").run_frames(12);
  CHECK(bench.state().view.motion.progress == 1.0);
}

TEST_CASE("a second press goes on at once, and play goes on where a motion is held") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("Right").key("Right");
  CHECK(bench.selection().step == Step::split_heads);
  bench.ui->key("Space");
  bench.ui->key("Space");  // held
  const double held = bench.state().view.motion.progress;
  CHECK(held < 1.0);
  bench.ui->run_frames(20);
  CHECK(bench.state().view.motion.progress == held);
  bench.ui->key("Space").run_frames(70);
  CHECK(bench.state().view.motion.progress == 1.0);
  CHECK(bench.selection().step == Step::split_heads);
}

TEST_CASE("with reduced motion the pictures fade, and speed is a setting that is remembered") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key(".");
  CHECK(bench.state().view.settings.motion_speed == 2.0f);
  bench.ui->key(",").key(",");
  CHECK(bench.state().view.settings.motion_speed == 0.5f);
  bench.ui->click("menu/View").click("menu/Reduce motion");
  CHECK(bench.state().view.settings.reduce_motion);
  bench.ui->key("Right").run_frames(10);
  const Image fading = bench.ui->pixels();
  bench.ui->run_frames(120);
  CHECK(fading.rgba != bench.ui->pixels().rgba);
  CHECK(bench.state().view.motion.progress == 1.0);
}

TEST_CASE("no words of the result stand where its left operand still passes") {
  // With the mask's place above it, and without a mask:
  // the scores come from where the masked scores will stand.
  for (const char* preset : {"hand_made", "welcome"}) {
    WINDOW_OR_SKIP(bench, open_window(1280, 720, preset_scenario(preset)));
    bench.selection().step = Step::scale;
    bench.ui->run_until_still().key("Right");
    int on_the_way = 0;
    for (int i = 0; i < 80 && bench.state().view.motion.running; ++i) {
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
