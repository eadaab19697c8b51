// The program with its window, from start to end.
#pragma once

#include <optional>
#include <string>

namespace headwise {

struct WindowOptions {
  // What to begin with, at most one of them; none: the welcome scenario.
  std::optional<std::string> path{};    // a scenario, playlist or array file
  std::optional<std::string> preset{};  // a name of core/scenario/presets.h
  std::optional<std::string> lesson{};  // a name of core/playlist/lessons.h
};

// Returns the exit status when the window is closed. Throws Error: usage where the file is missing or damaged, input where
// its arrays are wrong (both before a window is seen), no_display where there is none or its OpenGL is too old.
int run_window(const WindowOptions& options);

}  // namespace headwise
