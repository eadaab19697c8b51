// The words of the page that is shown, under the stage, where the graph stands otherwise.
#pragma once

#include "app/panels/panel.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// In a window that is low the question gives way to its answer, and the stage keeps the lines.
bool answer_replaces_question(float scale, double window_height);

// How high the panel wants to be, in pixels, in a window of this size; 0 where nothing is walked. The same before and after
// the answer.
double caption_height(const Fonts& fonts, float scale, double window_width, double window_height,
                      const PlaylistWalk& walk);

// The words alone, with their answer, at the cursor and `width` pixels wide: as they stand on a picture. A page must be
// shown.
float caption_words_height(const Fonts& fonts, float scale, float width, const PlaylistWalk& walk);
void draw_caption_words(const PanelContext& context, float width, const PlaylistWalk& walk);

// Fills the current ImGui window. What is typed as a caption is taken into the page at once.
PanelAction draw_caption(const PanelContext& context, PlaylistWalk& walk);

}  // namespace headwise
