// The program with its window, from start to end.
#pragma once

#include <optional>
#include <string>

namespace headwise {

struct WindowOptions {
  std::optional<std::string>
      path;  // a scenario, playlist or array file to begin with; none: the welcome scenario
};

// Returns the exit status when the window is closed. Throws Error: usage where the file is missing or damaged, input where
// its arrays are wrong (both before a window is seen), no_display where there is none or its OpenGL is too old.
int run_window(const WindowOptions& options);

}  // namespace headwise
