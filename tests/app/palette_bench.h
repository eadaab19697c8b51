// The command palette of a window: what is asked for, and what it lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/app/window_bench.h"

namespace headwise {

inline const CommandPaletteState& palette(const WindowBench& bench) {
  return bench.state().dialogs.palette;
}

inline void ask_for(WindowBench& bench, std::string_view text) {
  bench.ui->key("Ctrl+Shift+P").type(text);
}

// The names that are listed, in their order.
inline std::vector<std::string> listed(const WindowBench& bench) {
  std::vector<std::string> names;
  for (const PaletteMatch& match : palette(bench).matches)
    names.push_back(palette(bench).entries[match.entry].name);
  return names;
}

}  // namespace headwise
