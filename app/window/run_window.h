// The windowed program, from start to end.
#pragma once

#include <optional>
#include <string>

namespace headwise {

struct WindowOptions {
  // What to start with, at most one of these; none: the welcome scenario.
  std::optional<std::string> path{};     // a scenario, playlist or array file
  std::optional<std::string> picture{};  // a PNG for the model at `path`
  std::optional<std::string> preset{};   // a name of core/scenario/presets.h
  std::optional<std::string> lesson{};   // a name of core/lessons/lessons.h
  bool intro = true;                     // the opening scene may come first, if nothing else was asked for
};

// Returns the exit status when the window is closed. Throws Error: usage if the file is missing or damaged,
// input if its arrays are wrong (both before a window appears),
// no_display if there is no display or its OpenGL is too old.
int run_window(const WindowOptions& options);

}  // namespace headwise
