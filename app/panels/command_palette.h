// Ctrl+Shift+P: find any command, step, view, mask brush, setting, preset or head by a few letters of its
// name. Help, Ask a question: find the page that answers it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/ask_pages.h"
#include "app/panels/palette_entries.h"

namespace headwise {

struct CommandPaletteState {
  bool open = false;
  bool questions = false;  // answers only
  std::string query;
  std::vector<PaletteEntry> entries;  // as of when it was opened, and behind them the answers to the query
  std::size_t own_entries = 0;        // without the answers
  std::shared_ptr<const AskPages> pages;
  bool answered = false;              // the first answer is one, not merely the nearest page
  std::vector<PaletteMatch> matches;  // of the query, best first
  std::size_t chosen = 0;             // of the matches
  bool scroll_to_chosen = false;
};

// Finds the entries by their names, and the pages that answer if the query is a question. `questions`: looks
// for answers only, with the passage of each; the entries, the lessons' questions,
// are suggested until something is asked.
void open_command_palette(CommandPaletteState& state, std::vector<PaletteEntry> entries,
                          std::shared_ptr<const AskPages> pages, bool questions = false);

// The entry chosen in this frame, with Enter or a click; the palette is then closed. Escape and a click
// outside close it without one.
std::optional<PaletteEntry> draw_command_palette(const WidgetContext& context, CommandPaletteState& state);

}  // namespace headwise
