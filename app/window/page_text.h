// The text of the page that is shown, and whether what is written on it can be read.
#pragma once

#include <string>

#include "app/window/playlist_walk.h"

namespace headwise {

// Once a frame: walk.words, with the numbers of the trace; while the page is on its way, what is awaited;
// where it cannot be shown, why.
void refresh_words(WindowDocument& document);

// False if what was written on the page that is being edited cannot be shown as it is: walk.words_problem
// then says why, below its fields. Editing goes on until it is mended.
bool words_are_readable(PlaylistWalk& walk, const LiveSubject& subject);
bool words_are_readable(WindowState& window);

// What undo does while a playlist is walked: it takes back what was changed on the page, then leads back to
// the page before with what was changed there, and never changes another page.
struct WindowDocument;  // app/window/window_state.h
struct WindowState;

// What undo would revert; empty: nothing. Opening a page is no edit of its own: undo stops there, unless
// something was changed on the page before ("turn the page"), or a page has just been removed, which it puts
// back ("remove page").
std::string undo_label(const WindowDocument& document);

// Undoes the turning of a page after something was changed on the one before: leads back to that page and to
// what was changed there, so that it does not stand beside another page's words. False if undo means
// something else.
bool undo_to_page_before(WindowState& window);

// Drops an edit without a result. False if there is none: a page that has no result itself stays, as what was
// there before is another page's.
bool drop_refused_edit(WindowState& window);

// The words of a page while they are written; what is typed into one field is one step.

// Once a frame: keeps them as they were before they were edited.
void observe_words(WindowState& window);
// Brings back the words before the last edit. False if none was made since writing began, or the scenario was
// edited after it.
bool undo_words(WindowState& window);

}  // namespace headwise
