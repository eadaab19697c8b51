// The window at every size, scale and theme.
#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "app/window/window_commands.h"
#include "app/window/window_layout.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

bool is_focused(const WindowBench& bench, std::string_view name) {
  const FocusOrder& focus = bench.state().view.focus;
  if (!focus.ring || !bench.ui->has(name)) return false;
  const UiRect rect = bench.ui->rect(name);
  const float x = 0.5f * (focus.ring_min.x + focus.ring_max.x),
              y = 0.5f * (focus.ring_min.y + focus.ring_max.y);
  return x > rect.min.x && x < rect.max.x && y > rect.min.y && y < rect.max.y;
}

bool overlap(const RectF& a, const RectF& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height &&
         a.width * a.height > 0 && b.width * b.height > 0;
}

void check_panels(const WindowLayout& layout, double width, double height) {
  const RectF panels[] = {layout.menu,       layout.steps,     layout.setup,     layout.stage,
                          layout.inspector,  layout.graph,     layout.status,    layout.left_tabs,
                          layout.right_tabs, layout.graph_tab, layout.filmstrip, layout.notes};
  for (const RectF& a : panels) {
    CHECK(a.width >= 0);
    CHECK(a.height >= 0);
    CHECK(a.x + a.width <= width);
    CHECK(a.y + a.height <= height);
    for (const RectF& b : panels) CHECK((&a == &b || !overlap(a, b)));
  }
}

}  // namespace

TEST_CASE("panels never overlap, never leave the window and are never of negative size") {
  for (double scale : {0.75, 1.0, 1.5, 3.0}) {
    for (double width = 1; width < 2600; width = width * 1.3 + 1) {
      for (double height = 1; height < 1600; height = height * 1.4 + 1) {
        const WindowLayout layout = window_layout(width, height, scale);
        check_panels(layout, width, height);
        check_panels(window_layout(width, height, scale, {.caption_height = 100, .notes = true}), width,
                     height);
        for (const SidePanel unfolded : {SidePanel::setup, SidePanel::inspector, SidePanel::graph})
          check_panels(window_layout(width, height, scale, {.unfolded = unfolded}), width, height);
      }
    }
  }
}

TEST_CASE("at 1600 by 1000 the panels have the proportions of the design") {
  const WindowLayout layout = window_layout(1600, 1000, 1.0);
  CHECK(layout.setup.width == 256);
  CHECK(layout.inspector.width == 384);
  CHECK(layout.stage.x == 278);
  CHECK(layout.stage.width == 916);
  CHECK(layout.graph.height == 112);
  CHECK(window_layout(3200, 2000, 2.0).stage.width == 2 * 916);
}

TEST_CASE("from 1024 by 700 up every panel is there") {
  for (const auto& [width, height] : {std::pair{1024.0, 700.0}, {1280.0, 720.0}, {1920.0, 1080.0}}) {
    const WindowLayout layout = window_layout(width, height, 1.0);
    for (const RectF& panel : {layout.setup, layout.inspector, layout.graph}) CHECK(panel.width > 100);
    CHECK(layout.stage.width >= 450);
    CHECK(layout.stage.height >= 400);
  }
}

TEST_CASE("at 900 by 600 settings and graph wait in tabs, and the stage has two thirds of the width") {
  const WindowLayout layout = window_layout(900, 600, 1.0);
  CHECK(layout.folds_setup);
  CHECK(layout.folds_graph);
  CHECK(layout.left_tabs.width > 0);
  CHECK(layout.graph_tab.width > 0);
  CHECK(layout.inspector.width >= 230);
  CHECK(layout.stage.width >= 600);
  CHECK(layout.stage.height >= 480);
  const WindowLayout open = window_layout(900, 600, 1.0, {.unfolded = SidePanel::setup});
  CHECK(open.setup.width >= 240);
  CHECK(open.inspector.width >= 230);
  CHECK(open.stage.width >= 300);
}

TEST_CASE("larger type and narrower windows take the panels before the stage") {
  for (const double scale : {1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0}) {
    const WindowLayout layout = window_layout(1280, 720, scale);
    CAPTURE(scale);
    CHECK(layout.stage.width >= std::min(450 * scale, 0.85 * 1280));
  }
  for (double width = 620; width <= 1280; width += 20) {
    const WindowLayout layout = window_layout(width, 720, 1.0);
    CAPTURE(width);
    CHECK(layout.stage.width >= 450);
    CHECK((layout.inspector.width > 0) >= (layout.setup.width > 0));
    CHECK(layout.folds_setup == (layout.setup.width == 0));
    CHECK(layout.folds_inspector == (layout.inspector.width == 0));
    CHECK((layout.left_tabs.width > 0) == layout.folds_setup);
    CHECK((layout.right_tabs.width > 0) == layout.folds_inspector);
  }
}

TEST_CASE("at 150 and 200 % every panel is there or has a tab and unfolds beside the stage or in its place") {
  for (const auto& [width, height] : {std::pair{1280.0, 720.0}, {1600.0, 1000.0}}) {
    for (const double scale : {1.0, 1.5, 2.0}) {
      CAPTURE(width);
      CAPTURE(scale);
      const WindowLayout folded = window_layout(width, height, scale);
      // The stage keeps most of a window whose panels are folded.
      if (folded.folds_inspector) CHECK(folded.stage.width >= 0.85 * width);
      for (const SidePanel panel : {SidePanel::setup, SidePanel::inspector, SidePanel::graph}) {
        const WindowLayout layout = window_layout(width, height, scale, {.unfolded = panel});
        const RectF shown = panel == SidePanel::setup       ? layout.setup
                            : panel == SidePanel::inspector ? layout.inspector
                                                            : layout.graph;
        CHECK(shown.width >= 230 * scale);
        CHECK(shown.height >= 90 * scale);
        const bool beside = layout.stage.width >= 300 * scale && layout.stage.height >= 170 * scale;
        CHECK((beside || layout.stage.width * layout.stage.height == 0));
      }
    }
  }
}

TEST_CASE("tabs unfold the panels that have no room, one at a time, by mouse and by keys") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720, preset_scenario("hand_made"), 2.0f));
  UiDriver& ui = *bench.ui;
  ui.check_absent({"panel/setup", "panel/inspector", "panel/graph"});
  for (const auto& [tab, panel] : {std::pair{"tab/settings", "panel/setup"},
                                   {"tab/inspector", "panel/inspector"},
                                   {"tab/graph", "panel/graph"}}) {
    CAPTURE(tab);
    ui.click(tab).run_frames(2);
    CHECK(ui.has(panel));
    int shown = 0;
    for (const char* each : {"panel/setup", "panel/inspector", "panel/graph"}) shown += ui.has(each) ? 1 : 0;
    CHECK(shown == 1);
  }
  ui.click("tab/graph").run_frames(2);
  CHECK_FALSE(ui.has("panel/graph"));
  CHECK(ui.has("panel/stage"));
  // By keys: Tab reaches the tab, Enter unfolds it, and the next Tab goes on into the panel.
  for (int i = 0; i < 60 && !(ui.has("tab/settings") && is_focused(bench, "tab/settings")); ++i)
    ui.key("Tab");
  REQUIRE(is_focused(bench, "tab/settings"));
  ui.key("Enter").run_frames(2);
  REQUIRE(ui.has("panel/setup"));
  ui.key("Tab");
  const FocusOrder& focus = bench.state().view.focus;
  const UiRect setup = ui.rect("panel/setup");
  CHECK(focus.ring_min.x >= setup.min.x - 4);
  CHECK(focus.ring_max.x <= setup.max.x + 4);
}

TEST_CASE("at 150 and 200 % all ten steps and the timeline are in sight, and the steps stay where they are") {
  for (const auto& [width, height, scale] :
       {std::tuple{1280, 720, 1.5f}, {1280, 720, 2.0f}, {1600, 1000, 2.0f}}) {
    CAPTURE(width);
    CAPTURE(scale);
    WINDOW_OR_SKIP(bench, open_window(width, height, preset_scenario("hand_made"), scale));
    const auto places = [&] {
      std::vector<float> left;
      for (int step = 0; step < 10; ++step) {
        const std::string name = "step_bar/step/" + std::to_string(step);
        REQUIRE(bench.ui->has(name));
        const UiRect rect = bench.ui->rect(name);
        CHECK(rect.max.x <= static_cast<float>(width));
        if (step > 0) CHECK(rect.min.x > left.back());
        left.push_back(rect.min.x);
      }
      CHECK(bench.ui->has("step_bar/timeline"));
      return left;
    };
    const std::vector<float> still = places();
    bench.ui->click("step_bar/step/6").run_until_still();
    CHECK(places() == still);
    bench.ui->click("step_bar/play");
    CHECK(places() == still);
  }
}

TEST_CASE("with type of 200 % the stage of a lesson keeps the height, and the page's words stand beside it") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720, preset_scenario("welcome"), 2.0f));
  UiDriver& ui = *bench.ui;
  perform(bench.state(), {.name = {}, .what = {}, .keys = {}, .target = LessonPage{"first_walk", 0}});
  ui.run_until_still();
  CHECK(ui.has("stage/result"));
  const UiRect caption = ui.rect("panel/caption"), stage = ui.rect("panel/stage"),
               words = ui.rect("caption/words"), map = ui.rect("stage/result");
  CHECK(caption.max.x <= stage.min.x);
  CHECK(map.max.y - map.min.y >= 0.2f * 720);
  CHECK(words.max.x <= caption.max.x);
  CHECK(words.min.y > ui.rect("caption/edit").max.y - 1);
  // What is written needs the whole width.
  ui.click("caption/edit").run_until_still();
  CHECK(ui.rect("panel/caption").min.y >= ui.rect("panel/steps").max.y);
  CHECK(ui.rect("caption/text").max.x - ui.rect("caption/text").min.x > 0.4f * 1280);
}

TEST_CASE("the filmstrip stands beside all panels, and where there is no room for that it waits in a tab") {
  const WindowLayout wide = window_layout(1280, 720, 1.0, {.filmstrip = true});
  CHECK(wide.filmstrip.width > 0);
  CHECK(wide.inspector.width > 0);
  for (const double scale : {1.5, 2.0}) {
    const WindowLayout folded = window_layout(1280, 720, scale, {.filmstrip = true});
    CHECK(folded.filmstrip.width == 0);
    CHECK(folded.folds_filmstrip);
    CHECK(folded.left_tabs.width > 0);
    const WindowLayout open =
        window_layout(1280, 720, scale, {.unfolded = SidePanel::filmstrip, .filmstrip = true});
    check_panels(open, 1280, 720);
    CHECK(open.filmstrip.width >= 160 * scale);
    CHECK(open.stage.width >= 300 * scale);
  }
}

TEST_CASE("a setting that is asked for by name unfolds its panel") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720, preset_scenario("hand_made"), 2.0f));
  bench.state().view.setup.wanted_row = "setup/embed_dim";
  bench.ui->run_frames(4);
  CHECK(bench.ui->has("panel/setup"));
  CHECK(is_focused(bench, "setup/embed_dim"));
}

TEST_CASE("a class sees the numbers of twelve tokens at 1280 by 720, from Scores to Weighted sum") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  const std::pair<Step, const char*> shown[] = {{Step::scores, "digits/scores"},
                                                {Step::scale, "digits/scaled_scores"},
                                                {Step::mask, "digits/masked_scores"},
                                                {Step::softmax, "digits/attn_weights"},
                                                {Step::weighted_sum, "digits/head_output"}};
  for (const auto& [step, digits] : shown) {
    bench.selection().step = step;
    bench.ui->run_frames(3);
    CAPTURE(digits);
    CHECK(bench.ui->has(digits));
  }
}

TEST_CASE("a window of a pixel, of a strip and of a stamp draws and takes keys") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->move_to(5, 5);
  // The line of first steps has ticked the keys that this presses.
  bench.ui->key("Right").key("Home");
  const Image before = bench.ui->pixels();
  for (const auto& [width, height] :
       {std::pair{1, 1}, {200, 100}, {1, 900}, {2000, 1}, {63, 47}, {1600, 1000}}) {
    bench.ui->resize(width, height).key("Right").key("F1").key("Escape").key("Ctrl+E").key("Escape");
  }
  CHECK(bench.selection().step == Step::softmax);
  bench.ui->key("Home");
  CHECK(bench.ui->pixels().rgba == before.rgba);
}

TEST_CASE("a storm of sizes, steps and scales leaves the window whole") {
  WINDOW_OR_SKIP(bench, open_window(900, 600));
  std::mt19937 random(7);
  const auto between = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  for (int i = 0; i < 60; ++i) {
    bench.ui->push(WindowResized{between(1, 1900), between(1, 1100)});
    if (i % 5 == 0) bench.ui->push(ScaleChanged{0.75f + 0.25f * static_cast<float>(between(0, 5))});
    bench.ui->push(MouseMoved{static_cast<double>(between(0, 1900)), static_cast<double>(between(0, 1100))});
    bench.ui->run_frames(1);
    if (i % 3 == 0) bench.ui->key("Right");
    if (i % 7 == 0) bench.ui->key("Home");
  }
  bench.ui->push(ScaleChanged{1.0f}).resize(1600, 1000);
  CHECK(bench.session().error().empty());
  CHECK(bench.ui->has("panel/stage"));
}

TEST_CASE("in a small window no number over the map of a head is cut") {
  WINDOW_OR_SKIP(bench, open_window(900, 600));
  bench.show(Step::softmax, StageView::all_heads);
  const std::vector<std::string> figures = bench.ui->said("entropy ");
  CHECK(figures.size() >= 4);
  for (const std::string& figure : figures) CHECK_LACKS(figure, "…");
}

TEST_CASE("the theme changes chrome and data, and back to the very same picture") {
  WINDOW_OR_SKIP(bench, open_window());
  const Image dark = bench.ui->pixels();
  const Rgba8 ground = palette_of(Theme::dark).window;
  CHECK(bench.ui->pixel(3, 995) == ground);
  bench.ui->key("T");
  CHECK(bench.state().view.settings.theme == Theme::light);
  CHECK(bench.ui->pixel(3, 995) == palette_of(Theme::light).window);
  bench.ui->key("T");
  NoticesState& notices = bench.state().view.notices;
  CHECK(notices.notices.back().text == "Theme: for a projector.");
  bench.ui->key("T");
  CHECK(notices.notices.back().text == "Theme: dark.");
  notices.dismiss_all();
  bench.ui->run_until_still();
  CHECK(bench.ui->pixels().rgba == dark.rgba);
}

TEST_CASE("text is made larger and smaller within its bounds") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("Ctrl+=");
  CHECK(bench.state().view.settings.font_scale == doctest::Approx(1.125));
  CHECK(bench.ui->result().font_scale == doctest::Approx(1.125));
  for (int i = 0; i < 30; ++i) bench.ui->key("Ctrl+-");
  CHECK(bench.state().view.settings.font_scale == Settings::smallest_font_scale);
  bench.ui->key("Ctrl+0");
  CHECK(bench.state().view.settings.font_scale == 1.0f);
}

TEST_CASE("tooltips appear after the mouse has rested, and ask for that frame") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->move_to("setup/embed_dim");
  const Image before = bench.ui->pixels();
  CHECK(bench.ui->result().wake_after < 1.0);
  bench.ui->run_frames(3, 0.3);
  CHECK(bench.ui->pixels().rgba != before.rgba);
}
