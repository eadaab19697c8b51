// The text of the page that is shown, and whether what is written on it can be read.
#pragma once

#include "app/window/playlist_walk.h"

namespace headwise {

// Once a frame: walk.words, with the numbers of the trace; while the page is on its way, what is awaited;
// where it cannot be shown, why.
void refresh_words(WindowDocument& document);

// False if what was written on the page that is being edited cannot be shown as it is: walk.words_problem
// then says why, below its fields. Editing goes on until it is mended.
bool words_are_readable(PlaylistWalk& walk, const LiveSubject& subject);
bool words_are_readable(WindowState& window);

}  // namespace headwise
