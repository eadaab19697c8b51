// Making a playlist from what the window shows, page by page.
#pragma once

namespace headwise {

struct WindowDocument;
struct WindowState;

// What the window shows becomes a page: behind the one that is shown, else the last one. Behind a lesson that is in the
// program and is not walked, a playlist of one's own begins.
void add_page(WindowState& window);
void remove_page(WindowState& window);
// The page that is shown, by one place: -1 or 1.
void move_page(WindowState& window, int by);

// One whose only page is what the window shows. Unsaved pages are kept.
void new_playlist(WindowState& window);
// What was kept unsaved (app/session/kept_work.h), from its first page on.
void reopen_playlist(WindowState& window);
void reopen_scenario(WindowState& window);

// Once, before the window goes: keeps what is unsaved.
void keep_what_is_left(const WindowDocument& document);

}  // namespace headwise
