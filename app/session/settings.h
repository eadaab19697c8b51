// What the window remembers between runs. Stored in the XDG folders; the file is written whole or not at all.
#pragma once

#include <string>

#include "app/session/suggestions.h"
#include "core/export/color_map.h"

namespace headwise {

struct Settings {
  static constexpr float smallest_font_scale = 0.75f, largest_font_scale = 3.0f;
  static constexpr float slowest_motion = 0.125f, fastest_motion = 4.0f;

  Theme theme = Theme::dark;
  float font_scale = 1.0f;    // on top of the display's own scale
  float motion_speed = 1.0f;  // of the motion from one step to the next
  bool first_steps = true;    // the first steps are shown until they are done
  bool opening_scene = true;  // the window begins with the opening scene, until it was seen
  SuggestionSet suggestions_done = {};
  bool reduce_motion = false;  // nothing moves: pictures fade into each other
  // The strip of pages beside the stage, for the user's own playlists and for built-in lessons
  bool filmstrip = true, filmstrip_of_lessons = false;
  friend bool operator==(const Settings&, const Settings&) = default;
};

// $XDG_CONFIG_HOME/headwise/settings.json, else ~/.config/headwise/settings.json; empty where neither is set.
std::string settings_path();

struct LoadedSettings {
  Settings settings;
  std::string notice;  // not empty: the file was damaged and has been renamed to the name given here
};
// A missing file or an empty path gives the defaults; keys and values of a newer version are ignored. Never
// throws.
LoadedSettings load_settings(const std::string& path);
// Creates the folder if missing. Keys and values of a newer version that are in the file stay in it, unless
// the setting was changed. Throws Error(output); an empty path does nothing.
void save_settings(const std::string& path, const Settings& settings);

}  // namespace headwise
