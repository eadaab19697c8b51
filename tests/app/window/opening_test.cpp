// What a person sees first, and how it becomes the stage.
#include <filesystem>

#include "app/window/window_opening.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

WindowBench open_scene(int width = 1600, int height = 1000, float scale = 1.0f) {
  WindowBench bench = open_window(width, height, preset_scenario("welcome"), scale);
  if (!bench.ui) return bench;
  show_opening(bench.state());
  bench.ui->run_until_still();
  return bench;
}

bool covers(const WindowBench& bench) {
  return opening_covers(bench.state().view.opening);
}

double weight(const WindowBench& bench, Index key) {
  return bench.trace().tensors.attn_weights->at({0, 7, 9, key});
}

// The colour in the middle of what a name stands for.
Rgba8 color_over(const WindowBench& bench, const std::string& name, double above) {
  const UiRect rect = bench.ui->rect(name);
  return bench.ui->pixel(static_cast<int>(0.5f * (rect.min.x + rect.max.x)),
                         static_cast<int>(rect.min.y - static_cast<float>(above)));
}

}  // namespace

TEST_CASE("the window begins with the sentence alone, and a thick arc to the noun") {
  WINDOW_OR_SKIP(bench, open_scene());
  CHECK(covers(bench));
  CHECK(bench.ui->has("opening/strongest/animal"));
  bench.ui->check_absent({"step_bar", "setup/text", "stage/result", "menu/Help"});
  // The end of the arc, over "animal"; nothing as thick over "cross".
  const Rgba8 bar = palette_of(Theme::dark).bar;
  CHECK(color_over(bench, "opening/word/1", 12.0) == bar);
  CHECK_FALSE(color_over(bench, "opening/word/4", 12.0) == bar);
  bench.ui->save_png("opening_dark");
}

TEST_CASE("the other word swings the arc to the other noun, as an edit that can be undone") {
  WINDOW_OR_SKIP(bench, open_scene());
  bench.ui->click("opening/swap");
  CHECK(bench.scenario().inputs.text == "the animal did not cross the street because it was too wide .");
  CHECK(bench.state().view.opening.swung < 1.0);
  bench.ui->run_until_still();
  CHECK(covers(bench));
  CHECK(bench.ui->has("opening/strongest/street"));
  CHECK(color_over(bench, "opening/word/6", 12.0) == palette_of(Theme::dark).bar);
  CHECK(weight(bench, 7) > 0.8);
  bench.ui->click("opening/swap").run_until_still();
  CHECK(bench.ui->has("opening/strongest/animal"));
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario().inputs.text == "the animal did not cross the street because it was too wide .");
}

TEST_CASE("How? unfolds the stage at the row of the scene, whose colours are there from the last frame on") {
  WINDOW_OR_SKIP(bench, open_scene());
  bench.ui->click("opening/how");
  CHECK_FALSE(covers(bench));
  CHECK(bench.ui->has("opening/unfolding"));
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("opening/unfolding"));
  CHECK_FALSE(bench.state().view.opening.shown);
  CHECK(bench.ui->has("stage/result"));
  CHECK(bench.selection().step == Step::softmax);
  CHECK(bench.selection().head == 7);
  CHECK(bench.selection().pinned == CellRef{{TensorId::attn_weights}, {0, 7, 9, 2}});
}

TEST_CASE("while it unfolds every frame differs a little from the last: one motion, without a cut") {
  WINDOW_OR_SKIP(bench, open_scene(1280, 720));
  const auto difference = [](const Image& a, const Image& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.rgba.size(); ++i) sum += std::abs(int{a.rgba[i]} - int{b.rgba[i]});
    return sum / static_cast<double>(a.rgba.size());
  };
  const Image first = bench.ui->pixels();
  bench.ui->hold("Enter");
  Image before = first;
  double largest = 0.0, whole = 0.0;
  for (int frame = 0; frame < 100; ++frame) {
    bench.ui->run_frames(1);
    const Image now = bench.ui->pixels();
    largest = std::max(largest, difference(before, now));
    before = now;
  }
  whole = difference(first, before);
  CHECK(whole > 5.0);
  CHECK(largest < 0.25 * whole);
}

TEST_CASE("any key unfolds, and does what it does on the stage") {
  struct Case {
    const char* key;
    Step step;
  };
  for (const auto& [key, step] :
       {Case{"Right", Step::weighted_sum}, Case{"Left", Step::mask}, Case{"Enter", Step::softmax},
        Case{"Escape", Step::softmax}, Case{"J", Step::softmax}}) {
    CAPTURE(key);
    WINDOW_OR_SKIP(bench, open_scene(1280, 720));
    bench.ui->key(key);
    CHECK_FALSE(covers(bench));
    CHECK(bench.selection().step == step);
    CHECK(bench.selection().pinned);
  }
}

TEST_CASE("Tab and Space reach everything in the scene without a mouse") {
  WINDOW_OR_SKIP(bench, open_scene());
  bench.ui->key("Tab");
  CHECK(covers(bench));
  bench.ui->key("Space");
  CHECK(covers(bench));
  CHECK_CONTAINS(bench.scenario().inputs.text, "wide");
  bench.ui->key("Tab").key("Tab").key("Space");
  CHECK_FALSE(covers(bench));
  bench.ui->run_until_still().type("the dog sleeps .");
  CHECK(bench.scenario().inputs.text == "the dog sleeps .");
}

TEST_CASE("a sentence of one's own replaces the scene's") {
  WINDOW_OR_SKIP(bench, open_scene());
  bench.ui->click("opening/own").run_until_still().type("a cat sat .");
  CHECK(bench.scenario().inputs.text == "a cat sat .");
}

TEST_CASE("who has seen it starts on the stage, and a command shows it again") {
  WINDOW_OR_SKIP(bench, open_scene());
  const std::string file = (std::filesystem::temp_directory_path() / "headwise_opening_settings.json").string();
  bench.state().view.settings_file = file;
  bench.ui->click("opening/skip");
  CHECK_FALSE(load_settings(file).settings.opening_scene);
  std::filesystem::remove(file);
  bench.ui->run_until_still().click("menu/Help").click("menu/Intro").run_until_still();
  CHECK(covers(bench));
}

TEST_CASE("a command shows the scene from any other scenario, and undo leads back") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  const Scenario hand_made = bench.scenario();
  show_opening(bench.state());
  bench.ui->run_until_still();
  CHECK(covers(bench));
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == hand_made);
}

TEST_CASE("with reduced motion nothing grows, swings or flies") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720, preset_scenario("welcome")));
  bench.state().view.settings.reduce_motion = true;
  show_opening(bench.state());
  bench.ui->run_frames(1);
  CHECK(bench.state().view.opening.grown == 1.0);
  bench.ui->run_until_still().click("opening/swap");
  CHECK(bench.state().view.opening.swung == 1.0);
  bench.ui->key("Enter");
  CHECK(bench.ui->has("opening/unfolding"));  // it fades
  bench.ui->run_until_still();
  CHECK(bench.ui->has("stage/result"));
}

TEST_CASE("the scene fits into every window, with large type too") {
  struct Case {
    int width, height;
    float scale;
  };
  for (const auto& [width, height, scale] :
       {Case{1600, 1000, 1.0f}, Case{1280, 720, 1.0f}, Case{1280, 720, 2.0f}, Case{1600, 1000, 2.0f},
        Case{900, 600, 1.0f}, Case{640, 480, 1.0f}}) {
    CAPTURE(width);
    CAPTURE(height);
    CAPTURE(scale);
    WINDOW_OR_SKIP(bench, open_scene(width, height, scale));
    for (const std::string& name : bench.ui->names()) {
      if (!name.starts_with("opening/")) continue;
      const UiRect rect = bench.ui->rect(name);
      CAPTURE(name);
      CHECK(rect.min.x >= 0.0f);
      CHECK(rect.min.y >= 0.0f);
      CHECK(rect.max.x <= static_cast<float>(width));
      CHECK(rect.max.y <= static_cast<float>(height));
    }
    bench.ui->save_png("opening_" + std::to_string(width) + "x" + std::to_string(height) + "_" +
                       std::to_string(static_cast<int>(100 * scale)));
  }
}
