// The presenter's notes: what the author of a page wrote to be said, with a clock and what comes
// next. A strip below the stage, for a rehearsal or a screen that the class does not see; its key shows and
// hides it.
#pragma once

#include <string>

#include "app/panels/panel.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// "4:07", "1:02:30": minutes, or hours, and seconds.
std::string elapsed_text(double seconds);

// Fills the current ImGui window. `seconds`: since the playlist was begun. Needs a page that is shown.
void draw_presenter_notes(const PanelContext& context, const PlaylistWalk& walk, double seconds);

}  // namespace headwise
