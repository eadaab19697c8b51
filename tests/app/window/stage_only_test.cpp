// The stage alone, in a window and in a hall; what is hidden costs nothing.
#include <doctest/doctest.h>

#include "app/lesson/playlist_walk.h"
#include "app/stage/stage_panel.h"
#include "app/widgets/painter.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"
#include "app/window/page_turns.h"
#include "app/window/window_layout.h"
#include "core/lessons/lessons.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

double area(const std::vector<RectF>& rectangles) {
  double sum = 0.0;
  for (const RectF& r : rectangles) sum += r.width * r.height;
  return sum;
}

int brightness(Rgba8 c) {
  return c.r + c.g + c.b;
}

}  // namespace

TEST_CASE("Escape leaves full screen first, then unpins, then leaves the lesson, one at a time") {
  WINDOW_OR_SKIP(bench, open_window(1600, 900));
  WindowState& state = bench.state();
  start_walk(state, lesson_playlist("first_walk"));
  bench.ui->run_until_still().key("F11").run_until_still().click("stage/result");
  REQUIRE(bench.selection().pinned);
  REQUIRE(bench.selection().pinned != state.document.walk.shown()->pin);
  bench.ui->key("Escape");
  CHECK_FALSE(bench.ui->result().full_screen);
  CHECK_FALSE(state.view.stage_only);
  CHECK(bench.selection().pinned);
  CHECK(state.document.walk.page);
  bench.ui->key("Escape");
  CHECK_FALSE(bench.selection().pinned);
  CHECK(state.document.walk.page);
  bench.ui->key("Escape");
  CHECK_FALSE(state.document.walk.page);
}

TEST_CASE("between two steps there is room for the sign, whatever is chosen") {
  for (const auto& [width, height] : {std::pair{1600, 1000}, {1280, 720}, {1000, 620}}) {
    CAPTURE(width);
    WINDOW_OR_SKIP(bench, open_window(width, height));
    for (const char* key : {"F", "F"}) {
      bench.ui->key(key).run_frames(2);
      const float sign = width_of(bench.ui->fonts().sans, "›", bench.ui->fonts().small->FontSize);
      for (int step = 0; step + 1 < step_count; ++step) {
        const std::string name = "step_bar/step/";
        if (!bench.ui->has(name + std::to_string(step)) || !bench.ui->has(name + std::to_string(step + 1)))
          continue;
        CHECK(bench.ui->rect(name + std::to_string(step + 1)).min.x -
                  bench.ui->rect(name + std::to_string(step)).max.x >=
              sign);
      }
    }
  }
}

TEST_CASE("F leaves the steps and the stage, F11 on the whole screen, and Escape brings everything back") {
  WINDOW_OR_SKIP(bench, open_window(1600, 900));
  const double width_before = bench.ui->rect("panel/stage").max.x - bench.ui->rect("panel/stage").min.x;
  bench.ui->key("F");
  bench.ui->check_absent({"panel/setup", "panel/inspector", "panel/graph", "panel/status", "menu/File"});
  CHECK(bench.ui->has("panel/steps"));
  CHECK(bench.ui->rect("panel/stage").max.x - bench.ui->rect("panel/stage").min.x > 1.5 * width_before);
  CHECK_FALSE(bench.ui->result().full_screen);
  CHECK(bench.ui->result().font_scale == doctest::Approx(1.5));

  bench.ui->key("PageDown");
  CHECK(bench.selection().step == Step::project);
  bench.ui->key("4");
  CHECK(bench.selection().head == 4);
  bench.ui->key("Escape");
  CHECK(bench.ui->has("panel/setup"));
  CHECK(bench.ui->result().font_scale == doctest::Approx(1.0));

  bench.ui->key("F11");
  CHECK(bench.ui->result().full_screen);
  CHECK_FALSE(bench.ui->has("panel/setup"));
  bench.ui->key("F11");
  CHECK_FALSE(bench.ui->result().full_screen);
  CHECK(bench.ui->has("panel/inspector"));
}

TEST_CASE("full screen, in every theme: the map takes over half the height, with numbers and no controls") {
  for (const auto& [width, height_] : {std::pair{1280, 720}, {1920, 1080}}) {
    WINDOW_OR_SKIP(bench, open_window(width, height_));
    bench.ui->rasterise(false).click("step_bar/step/6").run_until_still().key("F11");
    for (int theme = 0; theme < 3; ++theme) {
      CAPTURE(width);
      CAPTURE(theme);
      bench.ui->key("T").run_until_still();
      const UiRect map = bench.ui->rect("stage/result");
      CHECK(map.max.y - map.min.y >= 0.55f * static_cast<float>(height_));
      CHECK(bench.ui->has("digits/attn_weights"));
      bench.ui->check_absent({"stage/left", "stage/above", "stage/view/0", "panel/setup", "panel/graph"});
    }
  }
}

TEST_CASE("in a hall every view is maps and the page's words, without a control; the maps take the height") {
  const struct {
    StageView view;
    std::vector<std::string> maps;
  } views[] = {
      {StageView::all_heads, {"stage/map/0", "stage/map/7"}},
      {StageView::tokens, {"stage/queries", "stage/keys"}},
      {StageView::elementwise, {"stage/keys", "stage/products"}},
      {StageView::gradients, {"stage/result", "stage/grad/result"}},
      {StageView::compare, {"stage/other", "stage/result", "stage/difference"}},
      {StageView::memory, {"stage/memory/right", "stage/memory/misread"}},
      {StageView::prediction, {"prediction/row/0", "prediction/row/14"}},
  };
  for (const auto& [width, height_] : {std::pair{1280, 720}, {1920, 1080}}) {
    WINDOW_OR_SKIP(bench, open_window(width, height_, preset_scenario("welcome")));
    bench.ui->rasterise(false);
    WindowState& state = bench.state();
    for (const auto& each : views) {
      for (const bool page : {false, true}) {
        CAPTURE(width);
        CAPTURE(page);
        CAPTURE(stage_view_words[static_cast<std::size_t>(each.view)]);
        if (page) {
          Playlist playlist;
          playlist.pages.push_back({});
          PlaylistPage& first = playlist.pages.back();
          first.scenario = std::make_shared<const Scenario>(bench.scenario());
          first.step = each.view == StageView::memory ? Step::split_heads : Step::softmax;
          first.view = each.view;
          first.beside = CompareWith::scale;
          first.title = "A heading";
          first.caption = "Some words that stand beside what they speak of.";
          start_walk(state, playlist);
        } else {
          state.view.selection.view = each.view;
          state.view.selection.step = each.view == StageView::memory ? Step::split_heads : Step::softmax;
          state.view.selection.compare_with = CompareWith::scale;
        }
        bench.ui->key("F11");
        state.document.predictions.finish();
        state.document.gradients.finish();
        state.document.comparison_targets.finish();
        bench.ui->run_until_still().run_frames(40, 0.1);
        bench.ui->save_png("hall_" + std::string(stage_view_words[static_cast<std::size_t>(each.view)]) +
                           (page ? "_page_" : "_") + std::to_string(width));
        float top = static_cast<float>(height_), bottom = 0.0f;
        for (const std::string& map : each.maps) {
          const UiRect rect = bench.ui->rect(map);
          top = std::min(top, rect.min.y);
          bottom = std::max(bottom, rect.max.y);
          if (page) CHECK(rect.min.x >= bench.ui->rect("panel/caption").max.x);
        }
        CHECK(bottom - top >= 0.55f * static_cast<float>(height_));
        for (const std::string& name : bench.ui->names()) {
          for (const char* control :
               {"stage/view/", "stage/share/", "stage/direction/", "stage/beside/", "stage/pin",
                "stage/loss/", "stage/query/", "stage/turn/", "heads/thumbnail", "heads/dot", "panel/setup",
                "panel/inspector", "panel/graph", "panel/filmstrip"})
            CHECK_MESSAGE(!name.starts_with(control), name);
        }
        bench.ui->key("F11");
        leave_walk(state);
        bench.ui->run_until_still();
      }
    }
  }
}

TEST_CASE("in a hall the steps come over the stage when the mouse moves, and go; nothing below them moves") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->key("F11").run_frames(40, 0.1);
  CHECK_FALSE(bench.ui->has("panel/steps"));
  const UiRect before = bench.ui->rect("stage/result");
  bench.ui->move_to(600, 400).move_to(610, 400).run_frames(2);
  CHECK(bench.ui->rect("panel/steps").max.y <= before.min.y);
  CHECK(bench.ui->rect("stage/result").min.y == before.min.y);
  bench.ui->run_frames(10, 0.02);  // they listen a moment after they came
  bench.ui->click("step_bar/step/3");
  CHECK(bench.selection().step == Step::scores);
  bench.ui->run_frames(40, 0.1);
  CHECK_FALSE(bench.ui->has("panel/steps"));
}

TEST_CASE("in a hall a pinned number of a map that the result is made from keeps that map beside it") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  Selection& selection = bench.selection();
  selection.step = Step::scores;
  bench.ui->key("F11").run_until_still();
  CHECK_FALSE(bench.ui->has("stage/left"));
  selection.pinned = CellRef{{TensorId::q_heads}, {0, selection.head, 8, 3}};
  bench.ui->run_until_still();
  bench.ui->check_shown({"stage/left", "stage/result"});
  // A pair is followed into the result.
  selection.pinned = CellRef{{TensorId::scores}, {0, selection.head, 8, 7}};
  bench.ui->run_until_still();
  CHECK_FALSE(bench.ui->has("stage/left"));
}

TEST_CASE("in a hall the maps of all heads have every row labelled") {
  for (const auto& [width, height_] : {std::pair{1280, 720}, {1920, 1080}}) {
    WINDOW_OR_SKIP(bench, open_window(width, height_));
    start_walk(bench.state(), lesson_playlist("first_walk"));
    bench.selection().step = Step::softmax;
    bench.selection().view = StageView::all_heads;
    bench.ui->key("F11").run_until_still();
    const Index rows = bench.session().trace().tensors.attn_weights->shape().size(2);
    REQUIRE(rows > 10);
    for (Index row = 0; row < rows; ++row) CHECK(bench.ui->has("label/row/" + std::to_string(row)));
  }
}

TEST_CASE("a page in a hall has its words beside the map, and its answer only when it is given") {
  for (const auto& [width, height_] : {std::pair{1280, 720}, {1920, 1080}}) {
    WINDOW_OR_SKIP(bench, open_window(width, height_));
    bench.ui->rasterise(false);
    start_walk(bench.state(), lesson_playlist("first_walk"));
    bench.ui->run_until_still().key("F11");
    bool asked = false;
    const PlaylistWalk& walk = bench.walk();
    for (int page = 0; page < 30; ++page) {
      CAPTURE(width);
      CAPTURE(page);
      bench.ui->run_until_still();
      const UiRect words = bench.ui->rect("panel/caption"), stage = bench.ui->rect("panel/stage");
      CHECK(words.max.x <= stage.min.x);
      CHECK(stage.max.y - stage.min.y > 0.9f * static_cast<float>(height_));
      CHECK(bench.ui->has("caption/page"));
      asked = asked || walk.asking();
      CHECK(bench.ui->has("caption/words") == walk.answered);
      if (walk.answered) CHECK(bench.ui->rect("caption/words").max.y <= bench.ui->rect("caption/page").min.y);
      bench.ui->key("PageDown");
    }
    CHECK(asked);
    bench.ui->key("Escape");
    CHECK(walk.page);
    CHECK(bench.ui->has("panel/inspector"));
  }
}

TEST_CASE("type grows with the window where the stage is alone, and never below its usual size") {
  CHECK(stage_only_scale(1280, 720, 1.0) == 1.125);
  CHECK(stage_only_scale(1920, 1080, 1.0) == 1.75);
  CHECK(stage_only_scale(3840, 2160, 2.0) == 3.625);
  CHECK(stage_only_scale(400, 300, 1.0) == 1.0);
  CHECK(stage_only_scale(400, 300, 2.0) == 2.0);
  for (const double width : {1.0, 300.0, 1600.0}) {
    const WindowLayout layout = window_layout(width, 600, 1.0, {.stage_only = true, .caption_height = 100});
    CHECK(layout.menu.height == 0.0);
    CHECK(layout.setup.width == 0.0);
    CHECK(layout.stage.width <= width);
    CHECK(layout.caption.y >= layout.stage.y + layout.stage.height);
    CHECK(layout.caption.y + layout.caption.height <= 600.0);
  }
}

TEST_CASE("what no rectangle covers is cut into rectangles that cover the rest exactly") {
  const RectF all{0, 0, 100, 100};
  CHECK(area(outside_of(all, {})) == 10000.0);
  CHECK(area(outside_of(all, {{10, 10, 20, 20}})) == 9600.0);
  CHECK(area(outside_of(all, {{10, 10, 20, 20}, {20, 20, 20, 20}})) == 10000.0 - 800.0 + 100.0);
  CHECK(area(outside_of(all, {{-50, 40, 300, 5}})) == 9500.0);
  CHECK(area(outside_of(all, {{-10, -10, 200, 200}})) == 0.0);
  CHECK(area(outside_of(all, {{200, 200, 10, 10}})) == 10000.0);
}

TEST_CASE("the spotlight dims the stage but for the pinned cell and the row and column that made it") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.ui->key("Right").key("Right").key("Right").run_until_still();
  Selection& selection = bench.selection();
  selection.pinned = CellRef{{TensorId::scores}, {0, 0, 8, 7}};
  bench.ui->move_to(2, 2).run_frames(3);
  const UiRect map = bench.ui->rect("stage/result"), left = bench.ui->rect("stage/left");
  const auto at = [](const UiRect& r, double col, double row, double cols, double rows) {
    return std::pair{static_cast<int>(r.min.x + (col + 0.5) / cols * (r.max.x - r.min.x)),
                     static_cast<int>(r.min.y + (row + 0.12) / rows * (r.max.y - r.min.y)) + 3};
  };
  const auto [cell_x, cell_y] = at(map, 7, 8, 12, 12);
  const auto [other_x, other_y] = at(map, 4, 4, 12, 12);
  const auto [row_x, row_y] = at(left, 5, 8, 16, 12);
  const Rgba8 cell = bench.ui->pixel(cell_x, cell_y), other = bench.ui->pixel(other_x, other_y),
              row = bench.ui->pixel(row_x, row_y);
  bench.ui->key("L");
  CHECK(selection.spotlight);
  CHECK(bench.ui->pixel(cell_x, cell_y) == cell);
  CHECK(bench.ui->pixel(row_x, row_y) == row);
  CHECK(brightness(bench.ui->pixel(other_x, other_y)) < brightness(other));
  // Under the map the label of its column stays as bright as without, and another's does not.
  const auto brightest_under = [&](int column) {
    const auto [x, unused] = at(map, column, 0, 12, 12);
    double most = 0.0;
    for (int y = static_cast<int>(map.max.y) + 3; y < static_cast<int>(map.max.y) + 14; ++y) {
      for (int dx = -5; dx <= 5; ++dx)
        most = std::max(most, static_cast<double>(brightness(bench.ui->pixel(x + dx, y))));
    }
    return most;
  };
  CHECK(brightest_under(7) > 1.8 * brightest_under(3));
  bench.ui->key("L");
  CHECK(bench.ui->pixel(other_x, other_y) == other);
}

TEST_CASE("the projector theme is white, its type is larger, and T comes round to dark again") {
  WINDOW_OR_SKIP(bench, open_window(1280, 900));
  bench.ui->key("T").key("T");
  CHECK(bench.state().view.settings.theme == Theme::projector);
  CHECK(bench.ui->pixel(3, 895) == Rgba8{255, 255, 255});
  CHECK(bench.ui->result().font_scale == doctest::Approx(1.2));
  bench.ui->key("T");
  CHECK(bench.state().view.settings.theme == Theme::dark);
}

namespace {

// What is worked at while `act` goes on, and in ten frames after it.
template <class Act>
WorkProbes work_of(WindowBench& bench, Act act) {
  WorkProbes work;
  set_work_probes(&work);
  act();
  bench.ui->run_frames(10);
  set_work_probes(nullptr);
  return work;
}

}  // namespace

TEST_CASE("with the stage alone nothing off it is worked at, and everything is again when it comes back") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.ui->run_until_still();
  const char* const panels[] = {"menu", "setup", "inspector", "graph", "status"};
  const auto edit = [&] { bench.ui->key("C"); };
  WorkProbes work = work_of(bench, edit);
  for (const char* panel : panels) CHECK_MESSAGE(work.contains(panel), panel);
  CHECK(work["layout differences"] == 1);  // once for the edit, not in every frame

  bench.ui->key("F").run_until_still();
  const long layouts = text_layouts().made();
  work = work_of(bench, [&] {
    edit();
    bench.ui->move_to("stage/result").key("Right").run_until_still();
    edit();
  });
  for (const char* hidden : {"menu", "setup", "inspector", "graph", "status", "layout differences",
                             "comparisons", "head statistics"})
    CHECK_MESSAGE(!work.contains(hidden), hidden);
  CHECK(text_layouts().made() == layouts);

  bench.ui->key("Escape");
  work = work_of(bench, [] {});
  for (const char* panel : panels) CHECK_MESSAGE(work.contains(panel), panel);
}

TEST_CASE("a frame that shows what the one before it showed is not drawn; where anything else shows it is") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  UiDriver& ui = *bench.ui;
  const auto drawn_by = [&](auto act) {
    ui.run_until_still().run_frames(3);
    const long before = ui.pictures();
    act();
    return ui.pictures() - before;
  };
  // What stands there is what a frame drawn anew would show.
  const auto up_to_date = [&] {
    ui.run_until_still().run_frames(2);
    const Image seen = ui.pixels();
    ui.forget_picture();
    ui.run_frames(1);
    return seen.rgba == ui.pixels().rgba;
  };
  CHECK(drawn_by([&] { ui.run_frames(10); }) == 0);
  for (const StageView view : {StageView::one_head, StageView::all_heads, StageView::compare}) {
    bench.selection().view = view;
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.run_frames(10); }) == 0);
    CHECK(drawn_by([&] { ui.key("C"); }) > 0);
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.key("Ctrl+Z"); }) > 0);
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.key("Right"); }) > 0);
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.move_to("setup/causal/on"); }) > 0);
    CHECK(up_to_date());
    CHECK(drawn_by([&] { ui.move_to(5, 5); }) > 0);
  }
  CHECK(drawn_by([&] { ui.resize(1500, 900); }) > 0);
  CHECK(up_to_date());
}

TEST_CASE("figures of heads are computed in the views that show them, and once for each edit") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1000));
  bench.show(Step::softmax);
  const auto edit = [&] { bench.ui->key("C"); };
  CHECK_FALSE(work_of(bench, edit).contains("head statistics"));
  for (const StageView view : {StageView::all_heads, StageView::tokens}) {
    bench.selection().view = view;
    bench.ui->run_until_still();
    CHECK(work_of(bench, edit)["head statistics"] <= 1);
    CHECK_FALSE(work_of(bench, [] {}).contains("head statistics"));
  }
  CHECK_FALSE(work_of(bench, edit).contains("comparisons"));
}
