// Builds a playlist from what the window shows, page by page.
#pragma once

#include <cstddef>

namespace headwise {

struct WindowDocument;
struct WindowState;

// Adds what the window shows as a page, after the current one or else after the last, and goes on to write
// its caption. While no playlist is walked this starts the walk; without one, or after a built-in lesson, it
// starts a playlist of the user's own.
void add_page(WindowState& window);
// Inserts a copy of the current page after it, and shows the copy.
void duplicate_page(WindowState& window);
// Makes the current page show what the window shows; its words and its answer stay.
void update_page(WindowState& window);
void remove_page(WindowState& window);
// Brings back what was removed or updated last.
void put_back_page(WindowState& window);
// Moves the current page by one place: -1 or 1.
void move_page(WindowState& window, int by);
// Moves a page of the playlist being walked to another place; both must exist.
void move_page_to(WindowState& window, std::size_t from, std::size_t to);

// A playlist whose only page is what the window shows. Unsaved pages are kept.
void new_playlist(WindowState& window);
// Reopens what was kept unsaved (app/session/kept_work.h), starting at its first page.
void reopen_playlist(WindowState& window);
// The work of a window that ended without being closed comes first, if it is still offered (window_backup.h).
void reopen_scenario(WindowState& window);

// Called once, before the window closes: keeps what is unsaved. False if something could not be kept.
bool keep_all_unsaved(const WindowDocument& document);

}  // namespace headwise
