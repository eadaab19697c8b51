#include "app/window/run_window.h"

#include <fmt/format.h>

#include <chrono>
#include <future>

#include "app/platform/desktop_program.h"
#include "app/platform/window.h"
#include "app/session/answer_check.h"
#include "app/session/kept_work.h"
#include "app/window/main_window.h"
#include "app/window/page_turns.h"
#include "app/window/playlist_making.h"
#include "app/window/window_files.h"
#include "app/window/window_opening.h"
#include "core/lessons/lessons.h"
#include "core/scenario/presets.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

Scenario opened(const WindowOptions& options) {
  const Scenario scenario = scenario_of_file(*options.path);
  return options.picture ? with_picture(scenario, *options.picture) : scenario;
}

constexpr int first_width = 1600, first_height = 1000;  // design units

}  // namespace

int run_window(const WindowOptions& options) {
  const Scenario welcome = preset_scenario("welcome");
  std::optional<Playlist> playlist;
  if (options.path && is_playlist_file(*options.path)) playlist = read_checked_playlist(*options.path);
  const bool opens_scenario = options.path && !playlist;
  const Scenario asked = opens_scenario   ? opened(options)
                         : options.preset ? preset_scenario(*options.preset)
                                          : welcome;
  // What takes long is computed in the background; the welcome scenario is shown meanwhile.
  const bool at_once = computes_at_once(asked);
  const LoadedSettings loaded = load_settings(settings_path());
  // The fonts are rendered while the display is opened: each takes a good part of the time to the first
  // picture. The display's scale is known once there is a window, and if it differs they are rendered again.
  auto drawn_fonts =
      std::async(std::launch::async, [scale = loaded.settings.font_scale] { return font_atlas(scale); });
  if (at_once) compute(asked, nullptr);

  Window window("Headwise", first_width, first_height);
  ImGuiLifetime imgui(drawn_fonts.get());
  MainWindow main_window(at_once ? asked : welcome, Window::wake);
  WindowState& state = main_window.state();
  state.document.session.train_in_background(true);
  if (!options.path && !options.lesson) {
    const Preset& preset = preset_named(options.preset.value_or("welcome"));
    state.view.selection = place_of_preset(preset, state.view.selection);
    state.view.opened_on_result = preset.weight.has_value();
  }
  state.view.setup.builder.drawn =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  state.view.settings_file = settings_path();
  state.view.settings = loaded.settings;
  if (const std::string folder = state_folder(); !folder.empty())
    state.view.notices.log = ErrorLog(folder + "/errors.log");
  state.document.kept_folder = state_folder();
  state.document.backup.begin(state_folder());
  offer_unsaved_work(state);
  state.document.recent_file = recent_files_path();
  state.document.recent_files = load_recent_files(state.document.recent_file);
  if (options.path) remember_file(state.document, *options.path);
  if (!loaded.notice.empty()) state.view.notices.complain(loaded.notice);
  if (opens_scenario) {
    state.document.scenario_path = *options.path;
    notify_of_opened(state, asked);
  }
  if (!options.path && !options.preset && !options.lesson && options.intro && loaded.settings.opening_scene)
    show_opening(state);
  if (playlist) start_walk(state, *std::move(playlist), *options.path);
  if (options.lesson) start_walk(state, lesson_playlist(*options.lesson));
  if (!at_once) state.document.session.open(asked, "open " + *options.path);
  const FrameFunction frame = [&](const FrameInput& input, const Fonts& fonts, float scale) {
    if (StopOnSignals::wanted()) state.quit = true;
    return main_window.frame(input, fonts, scale);
  };
  const StopOnSignals stop_on_signals(Window::wake);
  try {
    run_event_loop(window, imgui, frame, loaded.settings.font_scale);
  } catch (const std::exception& error) {
    // Whatever ended the window, what was in it is not lost.
    state.document.backup.write_now(state.document);
    state.view.notices.log.write(error.what());
    const std::string rescued =
        rescue_scenario(state.document.session.error().empty() ? state.document.session.scenario()
                                                               : state.document.session.traced_scenario());
    const auto* known = dynamic_cast<const Error*>(&error);
    if (rescued.empty() || !known) throw;
    throw Error(known->status(), {.what = error.what(),
                                  .remedy = fmt::format("the window's contents are saved in {}", rescued)});
  }
  if (StopOnSignals::wanted()) {
    state.document.backup.write_now(state.document);
    throw Error(
        ExitStatus::cancelled,
        {.where = "window",
         .what = "ended by a signal",
         .remedy = unsaved_work(state.document).any() ? "unsaved work is offered at the next start" : ""});
  }
  if (keep_all_unsaved(state.document)) state.document.backup.close();
  return 0;
}

}  // namespace headwise
