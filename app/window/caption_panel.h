// The text of the current page, below the stage, where the graph normally is.
#pragma once

#include "app/panels/panel.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// While a map has the keys that turn the pages of the full screen.
inline constexpr const char* cells_have_keys = "The arrows move on the map now; Esc leads back to the pages.";

// In a low window the answer replaces the question, so that the stage keeps those lines.
bool answer_replaces_question(float scale, double window_height);

// The panel's preferred height, in pixels, in a window of this size; 0 if no playlist is being walked. The
// same before and after the answer.
double caption_height(const Fonts& fonts, float scale, double window_width, double window_height,
                      const PlaylistWalk& walk);

// The text alone, at the cursor and `width` pixels wide: as it appears on a picture. With the answer, or,
// while the page asks, with its options instead; the title is that of the stage above it.
// A page must be shown.
float caption_words_height(const Fonts& fonts, float scale, float width, const PlaylistWalk& walk);
void draw_caption_words(const PanelContext& context, float width, PlaylistWalk& walk);

// Fills the current ImGui window. A caption being typed is stored in the page at once. `hall`: a column
// beside the stage, of the words and the page's number alone.
PanelAction draw_caption(const PanelContext& context, PlaylistWalk& walk, bool hall);

}  // namespace headwise
