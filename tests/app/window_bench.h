// The whole window, tall enough for all of the setup, on an offscreen context, driven by real events.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "app/window/main_window.h"
#include "core/export/plane_rule.h"
#include "core/scenario/presets.h"
#include "tests/app/ui_driver.h"

namespace headwise {

struct WindowBench {
  std::shared_ptr<const void> files;  // what it was opened with
  std::unique_ptr<UiDriver> ui;       // null where there is no EGL: the test is skipped
  std::unique_ptr<MainWindow> window;

  WindowState& state() const { return window->state(); }
  PlaylistWalk& walk() const { return state().document.walk; }
  Session& session() const { return state().document.session; }
  const Scenario& scenario() const { return session().scenario(); }
  const Trace& trace() const { return session().trace(); }
  Selection& selection() const { return state().view.selection; }
  // Goes there as a key would, and draws until nothing moves.
  void show(Step step, std::optional<StageView> view = {}) const {
    selection().step = step;
    if (view) selection().view = *view;
    ui->run_until_still();
  }
  double output(Index i) const { return trace().tensors.output->flat(i); }
};

// Declares the bench that the rest opens, and ends the test, aloud, where there is no EGL.
#define WINDOW_OR_SKIP(bench, ...) \
  WindowBench bench = __VA_ARGS__; \
  if (!bench.ui) return
// The same for a type that opens its own, `bench`; with the arguments of its constructor.
#define BENCH_OR_SKIP(Type, name, ...) \
  Type name{__VA_ARGS__};              \
  if (!name.bench.ui) return

inline WindowBench open_window(int width = 900, int height = 1250,
                               const Scenario& first = preset_scenario("hand_made"), float scale = 1.0f) {
  WindowBench bench;
  bench.ui = UiDriver::start(width, height, scale);
  if (!bench.ui) return bench;
  bench.window = std::make_unique<MainWindow>(first);
  MainWindow* window = bench.window.get();
  bench.ui->set_frame([window](const FrameInput& input, const Fonts& fonts, float pixels) {
    return window->frame(input, fonts, pixels);
  });
  bench.ui->run_frames(3);
  return bench;
}

// A cell of the map that is drawn under this name, and its middle.
inline RectF cell_of(const WindowBench& bench, std::string_view map, Index rows, Index cols, Index row,
                     Index col) {
  const UiRect rect = bench.ui->rect(map);
  return plane_geometry({rect.min.x, rect.min.y, rect.max.x - rect.min.x, rect.max.y - rect.min.y}, rows, cols)
      .cell(row, col);
}
inline ImVec2 middle_of_cell(const WindowBench& bench, std::string_view map, Index row, Index col,
                             Index rows = 12, Index cols = 12) {
  const RectF cell = cell_of(bench, map, rows, cols, row, col);
  return {static_cast<float>(cell.x + cell.width / 2), static_cast<float>(cell.y + cell.height / 2)};
}

// A window of which no pixel is looked at: none is filled, which is most of the time of a frame.
inline WindowBench open_unpainted(int width = 900, int height = 1250,
                                  const Scenario& first = preset_scenario("hand_made"), float scale = 1.0f) {
  WindowBench bench = open_window(width, height, first, scale);
  if (bench.ui) bench.ui->rasterise(false);
  return bench;
}

}  // namespace headwise
