// Walking through the pages of a playlist, and making one from what the window shows.
#pragma once

#include <optional>
#include <string>

#include "app/session/selection.h"
#include "core/playlist/playlist.h"
#include "core/trace/trace.h"

namespace headwise {

struct WindowState;

struct PlaylistWalk {
  Playlist playlist;                // at hand, walked or not; without pages: none
  std::string path;                 // of its file; empty: none yet
  bool changed = false;             // since it was opened or saved
  std::optional<std::size_t> page;  // the one that is shown; none: not walking
  bool edits_caption = false;
  bool answered = true;  // false: the page asks, and its caption is still hidden

  // The words of the page that is shown, with the numbers of the trace.
  struct Words {
    TracePtr trace;
    std::string ask_written, caption_written;  // what they were made from
    std::string ask, caption;
  } words;

  // The person's own place, given back on leaving
  ScenarioPtr own_scenario;
  Selection own_selection;
  // Where to look as soon as the scenario that was asked for has its trace
  struct Arrival {
    Selection selection;
    std::string problem;               // of the page, said on arriving
    std::optional<PlaylistPage> page;  // whose problem is still to be found out
  };
  std::optional<Arrival> arrival;

  const PlaylistPage* shown() const { return page ? &playlist.pages[*page] : nullptr; }
};

// Shows the page and begins to walk; the person's own scenario comes back on leaving. `path`: of the playlist's file, empty
// for one that is in the program. playlist.pages must not be empty.
void start_walk(WindowState& window, Playlist playlist, const std::string& path = {}, std::size_t page = 0);
// Forwards, a page that asks answers first. Does nothing where nothing is walked; stops at the ends.
void walk_pages(WindowState& window, int by);
// Back to the person's own scenario and place. The playlist stays at hand.
void leave_walk(WindowState& window);
// Walks the playlist at hand again, or leaves it.
void toggle_walk(WindowState& window);

// What the window shows becomes a page: behind the one that is shown, else the last one.
void add_page(WindowState& window);
void remove_page(WindowState& window);

// Once a frame: takes the page's place when its scenario has a trace, and brings its words up to date.
void arrive(WindowState& window);

}  // namespace headwise
