// Ctrl+Shift+P: find any command, step, view, mask brush, setting, preset or head by a few letters of its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/sheets/palette_entries.h"
#include "app/widgets/widget_context.h"

namespace headwise {

struct CommandPaletteState {
  bool open = false;
  bool questions = false;  // questions only
  std::string query;
  std::vector<PaletteEntry> entries;  // as of when it was opened
  std::vector<PaletteMatch> matches;  // of the query, best first
  std::size_t chosen = 0;             // of the matches
  bool scroll_to_chosen = false;
};

// `questions`: the entries are the lessons' questions, and the palette says so.
void open_command_palette(CommandPaletteState& state, std::vector<PaletteEntry> entries,
                          bool questions = false);

// The entry chosen in this frame, with Enter or a click; the palette is then closed. Escape and a click outside close it
// without one.
std::optional<PaletteEntry> draw_command_palette(const WidgetContext& context, CommandPaletteState& state);

}  // namespace headwise
