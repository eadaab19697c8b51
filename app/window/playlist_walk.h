// Walking through the pages of a playlist.
#pragma once

#include <optional>
#include <string>

#include "app/session/history.h"
#include "app/session/selection.h"
#include "core/playlist/page_words.h"
#include "core/playlist/playlist.h"
#include "core/trace/trace.h"

namespace headwise {

struct WindowDocument;  // app/window/window_document.h
struct WindowState;

struct PlaylistWalk {
  Playlist playlist;          // at hand, walked or not; without pages: none
  std::string path;           // of its file; empty: none yet
  bool changed = false;       // since it was opened or saved
  bool from_program = false;  // a lesson that is in the program: pages of one's own begin another playlist
  std::optional<std::size_t> page;  // the one that is shown; none: not walking
  bool edits_words = false;         // the page's title, question and caption are being written
  bool words_have_focus = false;    // since they are
  std::string words_problem;        // why they cannot be done with: a number that cannot be read
  bool answered = true;             // false: the page asks, and its caption is still hidden

  // The words of the page that is shown, with the numbers of the trace.
  struct Words : PageWords {
    TracePtr trace;  // what they were made from
    std::string ask_written, caption_written;
    // What is asked, or said, no longer holds, and the page says so
    bool changed(bool answered) const { return ask_changed || (answered && caption_changed); }
  } words;

  // The person's own place, given back on leaving
  std::optional<History> own_history;
  Selection own_selection;
  // How the person likes to see things, while a page shows them in a way of its own
  std::optional<MaskConvention> own_masks_as;
  std::optional<CompareWith> own_compare_with;
  // Where to look as soon as the scenario that was asked for has its trace
  struct Arrival {
    Selection selection;
    std::string problem;               // of the page, said on arriving
    std::optional<PlaylistPage> page;  // whose problem is still to be found out
  };
  std::optional<Arrival> arrival;
  std::string told_on_arrival;  // summary of the edit made by opening the page

  const PlaylistPage* shown() const { return page ? &playlist.pages[*page] : nullptr; }
  // The page asks, and its answer is still to be thought of.
  bool asking() const { return page && !answered; }
};

// Shows the page and begins to walk; the person's own scenario, with its way back, comes back on leaving. `path`: of the
// playlist's file, empty for one that is in the program. playlist.pages must not be empty. Pages of one's own that would
// make room unsaved are kept (app/session/kept_work.h).
void start_walk(WindowState& window, Playlist playlist, const std::string& path = {}, std::size_t page = 0);
// Forwards, a page that asks answers first, and goes from where it asked to its own place. Does nothing where nothing is
// walked; stops at the ends.
void walk_pages(WindowState& window, int by);
// Back to the person's own scenario and place. The playlist stays at hand.
void leave_walk(WindowState& window);
// Shows another page of the playlist that is walked; it is there. `answered`: with its answer, where it asks.
void show_page(WindowState& window, std::size_t page, bool answered = false);
// Gives the page that is shown its own settings and place again, an edit that can be undone; what it has answered stays
// answered. Does nothing where nothing is walked.
void restore_page(WindowState& window);
// Walks the playlist at hand again, or leaves it.
void toggle_walk(WindowState& window);

// What the status line says of the last edit. Opening a page is none: what it does to the output is often the answer to what
// the page asks. Empty until something is changed on the page.
std::string told_of_last_edit(const WindowDocument& document);

// Once a frame: takes the page's place when its scenario has a trace, and brings its words up to date.
void arrive(WindowState& window);

}  // namespace headwise
