#include "app/panels/run_window.h"

#include "app/panels/main_window.h"
#include "app/panels/window_files.h"
#include "app/platform/event_loop.h"
#include "core/scenario/presets.h"

namespace headwise {
namespace {

constexpr int first_width = 1600, first_height = 1000;  // design units

}  // namespace

int run_window(const WindowOptions& options) {
  const Scenario welcome = preset_scenario("welcome");
  const Scenario asked = options.path ? scenario_of_file(*options.path) : welcome;
  // What takes long is computed behind the window; the welcome scenario is there meanwhile.
  const bool at_once = computes_at_once(asked);
  if (at_once) compute(asked, nullptr);

  Window window("Headwise", first_width, first_height);
  ImGuiLifetime imgui(window.content_scale());
  MainWindow main_window(at_once ? asked : welcome, Window::wake);
  WindowState& state = main_window.state();
  state.settings_file = settings_path();
  const LoadedSettings loaded = load_settings(state.settings_file);
  state.settings = loaded.settings;
  if (!loaded.notice.empty()) state.notices.complain(loaded.notice);
  if (options.path) state.scenario_path = *options.path;
  if (!at_once) state.session.edit(asked, "open " + *options.path);
  run_event_loop(window, imgui, [&](const FrameInput& input, const Fonts& fonts, float scale) {
    return main_window.frame(input, fonts, scale);
  });
  return 0;
}

}  // namespace headwise
