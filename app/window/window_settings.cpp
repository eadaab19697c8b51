#include "app/window/window_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/error.h"

namespace headwise {
namespace {

void change_settings(WindowState& window, const Settings& settings) {
  window.settings = settings;
  try {
    save_settings(window.settings_file, settings);
  } catch (const Error& error) {
    window.notices.complain(error.what());
  }
}

}  // namespace

void scale_motion(WindowState& window, float factor) {
  Settings settings = window.settings;
  settings.motion_speed =
      std::clamp(settings.motion_speed * factor, Settings::slowest_motion, Settings::fastest_motion);
  change_settings(window, settings);
  window.notices.say(fmt::format("Motion at {:g} × normal speed", settings.motion_speed));
}

void toggle_reduce_motion(WindowState& window) {
  Settings settings = window.settings;
  settings.reduce_motion = !settings.reduce_motion;
  change_settings(window, settings);
}

void toggle_theme(WindowState& window) {
  Settings settings = window.settings;
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
  change_settings(window, settings);
}

void scale_text(WindowState& window, float scale) {
  Settings settings = window.settings;
  settings.font_scale = std::clamp(scale, Settings::smallest_font_scale, Settings::largest_font_scale);
  change_settings(window, settings);
}

void begin_first_steps(WindowState& window) {
  window.first_steps = {};
  Settings settings = window.settings;
  settings.first_steps = true;
  change_settings(window, settings);
}

void finish_first_steps(WindowState& window) {
  Settings settings = window.settings;
  settings.first_steps = false;
  change_settings(window, settings);
}

}  // namespace headwise
