// Ctrl+Shift+P: every command, step, view, brush of the mask, setting, preset and head by a few letters of its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/sheets/palette_entries.h"
#include "app/widgets/widget_context.h"

namespace headwise {

struct CommandPaletteState {
  bool open = false;
  bool questions = false;  // these alone
  std::string query;
  std::vector<PaletteEntry> entries;  // as they were when it was opened
  std::vector<PaletteMatch> matches;  // of the query, the best first
  std::size_t chosen = 0;             // of the matches
  bool scroll_to_chosen = false;
};

// `questions`: the entries are the questions of the lessons, and it says so.
void open_command_palette(CommandPaletteState& state, std::vector<PaletteEntry> entries,
                          bool questions = false);

// The entry that was chosen in this frame, by Enter or a click; the palette is closed then. Escape and a click beside
// it close it without one.
std::optional<PaletteEntry> draw_command_palette(const WidgetContext& context, CommandPaletteState& state);

}  // namespace headwise
