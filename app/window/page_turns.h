// Walking through the pages of a playlist: arriving, answering, turning, leaving.
#pragma once

#include <string>

#include "app/lesson/playlist_walk.h"
#include "app/session/commands.h"

namespace headwise {

struct WindowDocument;  // app/window/window_state.h
struct WindowState;

// Shows the page and starts the walk; on leaving, the user's own scenario comes back with its history.
// `path`: of the playlist's file, empty for a built-in one, or where the pages are the user's own and
// `unsaved`. playlist.pages must not be empty. The user's own unsaved pages that this would replace are kept
// (app/session/kept_work.h). Answers given before are forgotten.
void start_walk(WindowState& window, Playlist playlist, const std::string& path = {}, std::size_t page = 0,
                bool unsaved = false);
// The same for a built-in lesson. Visited from a page of the user's own, which stay as they are, with the
// answers given: step_out leads back to that page.
void visit_lesson(WindowState& window, const Playlist& lesson, std::size_t page = 0);
// Going forwards, a page that asks a question first reveals its answer. Does nothing if no playlist is being
// walked; stops at the ends.
void walk_pages(WindowState& window, int by);
// Back to the user's own scenario and place. The playlist stays loaded; out of a lesson that was visited from
// the user's own pages, those.
void leave_walk(WindowState& window);
// Out of a lesson that was visited from the user's own pages back to them; else as leave_walk.
void step_out(WindowState& window);
// How a page is come to: asked about anew unless an answer was given; turned back to, with an answer that was
// only shown; or with its answer in any case.
enum class PageEntry { ahead, back, answered };
constexpr PageEntry entry_with(bool answered) {
  return answered ? PageEntry::answered : PageEntry::ahead;
}
// Of a page that is gone to from the one that is shown.
PageEntry entry_towards(const PlaylistWalk& walk, std::size_t page);
// Shows another page of the playlist being walked; the page must exist.
void show_page(WindowState& window, std::size_t page, PageEntry entry = PageEntry::ahead);
// Follows the link of a wrong option to the page about it; go_back leads back.
void follow_to_page(WindowState& window, std::size_t page);
// Back to the page whose link led here; false if none did.
bool return_from_link(WindowState& window);
// Restores the current page's own settings and place, as an edit that can be undone; an answer already
// revealed stays revealed. Does nothing if no playlist is being walked.
void restore_page(WindowState& window);
// Walks the loaded playlist on from where it was left, with the answers given before, or leaves it.
void toggle_walk(WindowState& window);
// Shows the loaded playlist on the whole screen: the page that is shown, or the one where it was left, with
// the answers given before. In a lesson that is visited from the user's own pages: back to those. Never
// leaves what is presented.
void present(WindowState& window);
// A class sees the page, not the fields it is written in, and is asked its question. Does nothing while no
// page is written.
void end_writing(WindowState& window);
// Leaves the page for another scenario, of a training that is looked into; resume_page returns to it. Does
// nothing without a page.
void suspend_page(WindowState& window);
// Back to the page that suspend_page left; false if there is none.
bool resume_page(WindowState& window);
// Takes back the answer given to the page's question, which it asks again. Does nothing if it asks none, or
// still asks.
void take_back_answer(WindowState& window);
// Forgets all answers given, and goes to the first page.
void start_over(WindowState& window);
// While a page is on the full screen, the keys that go through the steps turn the pages, so that no caption
// stands beside another page's stage. False if the command is none of them, or no page is presented.
bool turn_page_by_key(WindowState& window, CommandId id);

// What the status line says about the last edit. Opening a page does not count: its effect on the output is
// often the answer to the page's question. Empty until something is changed on the page.
std::string last_edit_notice(const WindowDocument& document);

// Takes what was edited on the way from the user's own scenario to a page into what comes back on leaving. To
// be called before the page can arrive.
void keep_own_edits(WindowDocument& document);

// Cancels what is computed for the page on the way, and goes back to where it was turned from. False if
// nothing is being computed.
bool give_up_page(WindowState& window);

// Once a frame: moves to the page's place when its scenario has a trace, and updates its text. Once
// walk.given is done, the page that asked shows its answer, at its own place; bars or a mask that were drawn
// are then the answer given.
void arrive(WindowState& window);

// The head that was clicked, which may be the one that is shown: true if the page asked for a head.
bool answer_by_head(WindowState& window, Index head);
// A cell, head or tensor that a panel asks to look at: true if it is the answer that the page asked for.
bool answer_by_pointing(WindowState& window, const Selection& wanted);
// A digit chooses an option, or is a head, or begins to type a number; true if the page takes the key.
bool answer_by_key(WindowState& window, KeyChord chord);
// The same for what is typed in this frame and is no key of its own, such as the bracket of a shape.
void answer_by_character(WindowState& window);

}  // namespace headwise
