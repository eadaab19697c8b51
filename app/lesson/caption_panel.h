// The text of the current page, below the stage, where the graph normally is.
#pragma once

#include "app/lesson/playlist_walk.h"
#include "app/panels/panel.h"

namespace headwise {

// While a map has the keys that turn the pages of the full screen.
inline constexpr const char* cells_have_keys =
    "The arrows now select cells of the map; Esc lets them turn pages again.";

// The panel's preferred height, in pixels, in a window of this size; 0 if no playlist is being walked. The
// same before and after the answer.
double caption_height(const Fonts& fonts, float scale, double window_width, double window_height,
                      const PlaylistWalk& walk);

// Fills the current ImGui window. A caption being typed is stored in the page at once. `hall`: a column
// beside the stage, of the words and the page's number alone.
PanelAction draw_caption(const PanelContext& context, PlaylistWalk& walk, bool presentation);

}  // namespace headwise
