// What was edited on a page that is walked through: whether it can be left as it is written, and undo.
#pragma once

#include <string>

#include "app/lesson/playlist_walk.h"

namespace headwise {

struct WindowDocument;  // app/window/window_state.h
struct WindowState;

// As words_are_readable of app/lesson/page_text.h; where they are not, a notice says why, too.
bool words_are_readable(WindowState& window);

// What undo does while a playlist is walked: it takes back what was changed on the page, then leads back to
// the page before with what was changed there, and never changes another page.

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
