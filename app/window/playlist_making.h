// Builds a playlist from what the window shows, page by page.
#pragma once

namespace headwise {

struct WindowDocument;
struct WindowState;

// Adds what the window shows as a page, after the current one or else after the last. After a built-in lesson that is not
// being walked, this starts a playlist of the user's own.
void add_page(WindowState& window);
void remove_page(WindowState& window);
// Moves the current page by one place: -1 or 1.
void move_page(WindowState& window, int by);

// A playlist whose only page is what the window shows. Unsaved pages are kept.
void new_playlist(WindowState& window);
// Reopens what was kept unsaved (app/session/kept_work.h), starting at its first page.
void reopen_playlist(WindowState& window);
void reopen_scenario(WindowState& window);

// Called once, before the window closes: keeps what is unsaved.
void keep_what_is_left(const WindowDocument& document);

}  // namespace headwise
