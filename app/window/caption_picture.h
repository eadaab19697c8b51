// The text of the current page, below a picture of the stage.
#pragma once

#include "app/panels/panel.h"
#include "app/window/playlist_walk.h"

namespace headwise {

// At the cursor and `width` pixels wide. With the answer, or, while the page asks, with its options instead;
// the title is that of the stage above it. A page must be shown.
float caption_words_height(const Fonts& fonts, float scale, float width, const PlaylistWalk& walk);
void draw_caption_words(const PanelContext& context, float width, PlaylistWalk& walk);

}  // namespace headwise
