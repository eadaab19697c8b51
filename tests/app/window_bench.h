// The whole window, tall enough for all of the setup, on an offscreen context, driven by real events.
#pragma once

#include <memory>

#include "app/window/main_window.h"
#include "core/scenario/presets.h"
#include "tests/app/ui_driver.h"

namespace headwise {

struct WindowBench {
  std::unique_ptr<UiDriver> ui;  // null where there is no EGL: the test is skipped
  std::unique_ptr<MainWindow> window;

  const Session& session() const { return window->state().document.session; }
  const Scenario& scenario() const { return session().scenario(); }
  const Trace& trace() const { return session().trace(); }
  const Selection& selection() const { return window->state().view.selection; }
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

}  // namespace headwise
