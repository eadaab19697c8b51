// The lines at the edges of the window: the menus, built from the command table, with the operator and its
// sizes on the right; the status line at the bottom; and the presenter's notes, on a sheet of their own.
#pragma once

#include <string>

#include "app/panels/panel.h"

namespace headwise {

struct PlaylistWalk;
struct WindowState;

// Fills the menu bar of the current ImGui window.
PanelAction draw_menu_bar(const PanelContext& context, WindowState& window);

// "E 128 · H 8 · D 16 · L 12"; G, S and N too where they differ from H, L and 1.
std::string sizes_text(const Trace& trace);

// The line along the bottom of the window: what the last edit changed, how long that took,
// and the number under the mouse. Fills the current ImGui window.
void draw_status_bar(const PanelContext& context, const WindowState& window, double compute_seconds);

// "computed 9 of 16 tensors in 1.3 ms": the others were shared with the trace before.
std::string compute_text(const Trace& trace, double seconds);

// The presenter's notes: what the author of a page wrote to be said, with a clock and what comes
// next. A strip below the stage, for a rehearsal or a screen that the class does not see; its key shows and
// hides it.

// "4:07", "1:02:30": minutes, or hours, and seconds.
std::string elapsed_text(double seconds);

// Fills the current ImGui window. `seconds`: since the playlist was begun. Needs a page that is shown.
void draw_presenter_notes(const PanelContext& context, const PlaylistWalk& walk, double seconds);

}  // namespace headwise
