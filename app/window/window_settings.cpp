#include "app/window/window_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/window/window_state.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

void change_settings(WindowView& view, const Settings& settings) {
  view.settings = settings;
  try {
    save_settings(view.settings_file, settings);
  } catch (const Error& error) {
    view.notices.complain(error.what());
  }
}

}  // namespace

void scale_motion(WindowView& view, float factor) {
  Settings settings = view.settings;
  settings.motion_speed =
      std::clamp(settings.motion_speed * factor, Settings::slowest_motion, Settings::fastest_motion);
  change_settings(view, settings);
  view.notices.say(fmt::format("Motion at {:g} × normal speed", settings.motion_speed));
}

void set_motion_speed(WindowView& view, float speed) {
  if (speed == view.settings.motion_speed) return;
  Settings settings = view.settings;
  settings.motion_speed = std::clamp(speed, Settings::slowest_motion, Settings::fastest_motion);
  change_settings(view, settings);
}

void toggle_reduce_motion(WindowView& view) {
  Settings settings = view.settings;
  settings.reduce_motion = !settings.reduce_motion;
  change_settings(view, settings);
}

void toggle_filmstrip(WindowView& view, bool of_lesson) {
  Settings settings = view.settings;
  bool& shown = of_lesson ? settings.filmstrip_of_lessons : settings.filmstrip;
  shown = !shown;
  change_settings(view, settings);
}

void toggle_theme(WindowView& view) {
  Settings settings = view.settings;
  switch (settings.theme) {
    case Theme::dark:
      settings.theme = Theme::light;
      break;
    case Theme::light:
      settings.theme = Theme::projector;
      break;
    case Theme::projector:
      settings.theme = Theme::dark;
      break;
  }
  change_settings(view, settings);
  view.notices.say(settings.theme == Theme::dark    ? "Theme: dark."
                   : settings.theme == Theme::light ? "Theme: light."
                                                    : "Theme: for a projector.");
}

void scale_text(WindowView& view, float scale) {
  Settings settings = view.settings;
  settings.font_scale = std::clamp(scale, Settings::smallest_font_scale, Settings::largest_font_scale);
  change_settings(view, settings);
}

void remember_opening_seen(WindowView& view) {
  if (!view.settings.opening_scene) return;
  Settings settings = view.settings;
  settings.opening_scene = false;
  change_settings(view, settings);
}

void remember_suggestion(WindowView& view, Suggestion suggestion) {
  const auto at = static_cast<std::size_t>(suggestion);
  if (view.settings.suggestions_done[at]) return;
  Settings settings = view.settings;
  settings.suggestions_done.set(at);
  change_settings(view, settings);
}

void begin_first_steps(WindowView& view) {
  view.first_steps = {};
  Settings settings = view.settings;
  settings.first_steps = true;
  settings.suggestions_done.reset();
  change_settings(view, settings);
}

void finish_first_steps(WindowView& view) {
  Settings settings = view.settings;
  settings.first_steps = false;
  change_settings(view, settings);
}

}  // namespace headwise
