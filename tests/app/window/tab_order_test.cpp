// Everything that the mouse reaches, the keyboard reaches: Tab through every view and every sheet.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "app/content/stage_views.h"
#include "app/window/window_commands.h"
#include "tests/app/keyboard_bench.h"

using namespace headwise;

namespace {

const CellRef score{{TensorId::scores}, {0, 0, 6, 3}};

// What the probe knows and Tab does not stop at, and why.
constexpr struct {
  std::string_view prefix, why;
} not_stops[] = {
    {"panel/", "holds controls and is none"},
    {"overlay/", "holds controls and is none"},
    {"digits/", "says that a map has numbers"},
    {"error", "is a sentence"},
    {"tooltip", "is a sentence"},
    {"first_steps", "is a sentence"},
    {"status/", "is a line of text"},
    {"stage/legend/", "explains colours"},
    {"color_bar/", "explains colours"},
    {"stage/compare/", "is text"},
    {"stage/head_words/", "is text"},
    {"qk/", "stands in the plane or beside it: both are stops"},
    {"head_rows/", "is a row of the cells, which are a stop"},
    {"stage/memory/0", "is a column of the table of operations"},
    {"stage/memory/1", "is a column of the table of operations"},
    {"stage/memory/2", "is a column of the table of operations"},
    {"stage/memory/3", "is a column of the table of operations"},
    {"stage/memory/wrong", "is a column of the table of operations"},
    {"stage/memory/lane/", "shows where the numbers of the map lie, which is a stop"},
    {"stage/memory/floats", "shows where the numbers of the map lie, which is a stop"},
    {"stage/memory/head/", "is a head: 0 … 9 and the arrows look at it"},
    {"stage/softmax/", "figures of the rows, which the inspector says"},
    {"setup/gain_effect", "is a sentence"},
    {"setup/layout_differences", "is a sentence"},
    {"setup/cache", "is a sentence"},
    {"setup/alignment", "cannot be chosen without a causal mask"},
    {"setup/head_dim", "follows from other sizes and cannot be typed"},
    {"inspector/share/", "is text"},
    {"inspector/following", "is text"},
    {"heads/name/", "is text"},
    {"inspector/map", "is text"},
    {"inspector/row", "is text"},
    {"followed/", "marks a row of a map, which is a stop"},
    {"inspector/terms", "holds the terms, which are stops"},
    {"caption/ask", "is text"},
    {"caption/point", "is text"},
    {"stage/wrong_pairs", "marks cells of a map, which is a stop"},
    {"caption/heading", "is text"},
    {"caption/words", "is text"},
    {"filmstrip/page/", "is a picture of the list, which is one stop and has arrows"},
    {"filmstrip/picture/", "is the picture on it"},
    {"comparison/layouts", "is a table"},
    {"comparison/einsums", "is a table"},
    {"comparison/heads", "is a table"},
    {"comparison/differences", "is a table"},
    {"comparison/tensors", "is a table"},
    {"comparison/keys", "is a table"},
    {"comparison/values", "shows numbers that the sheet says"},
    {"comparison/map", "shows a map of the stage once more"},
    {"comparison/computing", "is a sentence"},
    {"stage/bias_name", "is the name of a row"},
    {"stage/reason", "is a sentence"},
    {"file_dialog/entry/", "is a line of the list, which is one stop and has arrows"},
    {"letter/", "stands in the list of sizes too, and there it is a stop"},
    {"menu/", "F10 opens the menus, and arrows go through them"},
    {"notice/", "Escape takes notices away"},
};
// In the view of all heads: their keys are 0 … 9, the arrows, M and S.
constexpr std::string_view heads_of_maps[] = {"heads/number/", "heads/dot/"};

bool is_control(std::string_view name, bool all_heads) {
  for (const auto& each : not_stops) {
    if (name.starts_with(each.prefix)) return false;
  }
  return !(all_heads && std::ranges::any_of(heads_of_maps,
                                            [&](std::string_view heads) { return name.starts_with(heads); }));
}

// Tab (or Shift+Tab) until it comes back to where it began; all that had the focus on the way.
std::set<std::string> reached_by(const WindowBench& bench, std::string_view key) {
  std::set<std::string> reached;
  const ImGuiID begin = focus_of(bench).focused;
  for (int i = 0; i < 600; ++i) {
    bench.ui->key(key);
    const FocusOrder& focus = focus_of(bench);
    if (focus.focused != 0) CHECK_MESSAGE(focus.ring, "a control that has the focus is not to be seen");
    for (const std::string& name : bench.ui->names()) {
      if (focus.focused != 0 && is_inside(focus, bench.ui->rect(name))) reached.insert(name);
    }
    if (focus.focused == begin) return reached;
  }
  FAIL("Tab does not come back to where it began");
  return reached;
}

void check_all_reached(const WindowBench& bench, const std::string& where) {
  const std::set<std::string> forward = reached_by(bench, "Tab"), backward = reached_by(bench, "Shift+Tab");
  const bool all_heads = bench.selection().view == StageView::all_heads;
  const Step step = bench.selection().step;
  for (const std::string& name : bench.ui->names()) {
    const bool disabled = (name == "step_bar/back" && step == Step::inputs) ||
                          (name == "step_bar/forward" && step == Step::output);
    if (disabled || !is_control(name, all_heads)) continue;
    CHECK_MESSAGE(forward.contains(name), where << ": Tab does not reach " << name);
    CHECK_MESSAGE(backward.contains(name), where << ": Shift+Tab does not reach " << name);
  }
}

}  // namespace

TEST_CASE("Tab reaches every control of every view, forwards and backwards") {
  for (int view = 0; view < stage_view_count; ++view) {
    WINDOW_OR_SKIP(bench, open_at(Step::scores, static_cast<StageView>(view)));
    bench.selection().pinned = score;
    bench.ui->run_frames(3);
    check_all_reached(bench, std::string(stage_view_entry(static_cast<StageView>(view)).name));
  }
}

TEST_CASE("Tab reaches every control of every step, in a small window too") {
  for (const Step step : {Step::inputs, Step::project, Step::mask, Step::softmax, Step::output}) {
    WINDOW_OR_SKIP(bench, open_at(step, StageView::one_head, 1280, 720));
    check_all_reached(bench, std::string(step_entries()[static_cast<std::size_t>(step)].name));
  }
}

TEST_CASE("Tab reaches every control of a page of a lesson, and of the stage alone") {
  WINDOW_OR_SKIP(bench, open_at(Step::scores));
  perform(bench.state(), {.name = {}, .what = {}, .keys = {}, .target = LessonPage{"first_walk", 1}});
  bench.ui->run_until_still();
  REQUIRE(bench.ui->has("caption/edit"));
  check_all_reached(bench, "a lesson");
  bench.ui->key("F");
  REQUIRE_FALSE(bench.ui->has("panel/setup"));
  check_all_reached(bench, "the stage alone");
  bench.walk().edits_words = true;
  bench.ui->run_frames(3);
}

TEST_CASE("Tab reaches every control of every sheet, and the focus returns to where it was") {
  WINDOW_OR_SKIP(bench, open_at(Step::scores));
  REQUIRE(tab_to(bench, "setup/batch"));
  const ImGuiID before = focus_of(bench).focused;
  const struct {
    const char* key;
    const char* overlay;
  } sheets[] = {{"Ctrl+O", "overlay/file"},
                {"Ctrl+S", "overlay/file"},
                {"Ctrl+E", "overlay/export"},
                {"Ctrl+Shift+P", "overlay/palette"},
                {"F1", "overlay/keys"}};
  for (const auto& sheet : sheets) {
    bench.ui->key(sheet.key).run_frames(2);
    REQUIRE(bench.ui->has(sheet.overlay));
    bench.state().dialogs.files.path = "/nowhere/a.json";  // without a name nothing can be accepted
    bench.ui->run_frames(2);
    if (std::string_view(sheet.overlay) != "overlay/palette") {  // has one field, and arrows for its list
      std::set<std::string> inside;
      for (const std::string& name : bench.ui->names()) {
        const bool of_sheet = name.starts_with("file_dialog/") || name.starts_with("export/");
        if (of_sheet && is_control(name, false)) inside.insert(name);
      }
      const std::set<std::string> reached = inside.empty() ? inside : reached_by(bench, "Tab");
      for (const std::string& name : inside)
        CHECK_MESSAGE(reached.contains(name), "Tab does not reach " << name);
    }
    bench.ui->key("Escape").run_frames(2);
    CHECK_FALSE(bench.ui->has(sheet.overlay));
    CHECK_MESSAGE(focus_of(bench).focused == before, "the focus is not back after " << sheet.key);
  }
  bench.ui->key("Escape").key("I").run_frames(2);
  for (int tab = 0; tab < 3; ++tab) {
    bench.state().dialogs.comparison.tab = tab;
    bench.ui->run_frames(2);
    bench.state().dialogs.comparison.lookup.head = bench.state().dialogs.comparison.lookup.query = 1;
    bench.ui->run_frames(2);
    std::set<std::string> inside;
    for (const std::string& name : bench.ui->names()) {
      if (name.starts_with("comparison/") && is_control(name, false)) inside.insert(name);
    }
    const std::set<std::string> reached = reached_by(bench, "Tab");
    for (const std::string& name : inside)
      CHECK_MESSAGE(reached.contains(name), "Tab does not reach " << name);
  }
}

TEST_CASE("the ring of the focus is to be seen around every control, dark and light and for a projector") {
  WINDOW_OR_SKIP(bench, open_at(Step::mask, StageView::one_head, 1280, 720));
  for (const Theme theme : {Theme::dark, Theme::light, Theme::projector}) {
    bench.state().view.settings.theme = theme;
    bench.ui->rasterise(true).run_frames(3);
    const Rgba8 color = palette_of(theme).focus;
    bench.ui->key("Shift+Tab");  // from the end: sizes, graph, inspector …
    int rings = 0;
    for (int i = 0; i < 12; ++i) {
      for (int skip = 0; skip < 5; ++skip) bench.ui->rasterise(skip == 4).key("Tab");
      bench.ui->run_frames(1);
      const FocusOrder& focus = focus_of(bench);
      if (focus.focused == 0) continue;
      REQUIRE(focus.ring);
      // In the middle of each side, a pixel or two outside.
      const Image image = bench.ui->pixels();
      const auto lit = [&](float x, float y, float dx, float dy) {
        for (float out = 0.0f; out <= 5.0f; out += 1.0f) {
          const int px = std::clamp(static_cast<int>(x + out * dx), 0, image.width - 1);
          const int py = std::clamp(static_cast<int>(y + out * dy), 0, image.height - 1);
          const auto at = 4 * (static_cast<std::size_t>(py) * static_cast<std::size_t>(image.width) +
                               static_cast<std::size_t>(px));
          if (Rgba8{image.rgba[at], image.rgba[at + 1], image.rgba[at + 2], 255} == color) return true;
        }
        return false;
      };
      const float x = 0.5f * (focus.ring_min.x + focus.ring_max.x),
                  y = 0.5f * (focus.ring_min.y + focus.ring_max.y);
      CHECK(lit(focus.ring_min.x, y, -1, 0));
      CHECK(lit(focus.ring_max.x, y, 1, 0));
      CHECK(lit(x, focus.ring_min.y, 0, -1));
      CHECK(lit(x, focus.ring_max.y, 0, 1));
      ++rings;
    }
    CHECK(rings > 8);
    bench.ui->key("Escape");
  }
}

TEST_CASE("Tab goes through all the terms of a list that scrolls") {
  WINDOW_OR_SKIP(bench, open_at(Step::project));
  bench.selection().pinned = CellRef{{TensorId::q}, {0, 1, 3}};
  bench.ui->run_frames(3);
  REQUIRE(tab_to(bench, "inspector/more_terms"));
  bench.ui->key("Enter");
  REQUIRE(bench.state().view.inspector.terms.all);
  bench.ui->key("Escape");
  std::set<std::string> terms;
  for (const std::string& name : reached_by(bench, "Tab")) {
    if (name.starts_with("inspector/term/")) terms.insert(name);
  }
  CHECK(terms.size() >= 128);
}
