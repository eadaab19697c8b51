// The text of the page that is shown, and whether what is written on it can be read.
#pragma once

#include <string>

#include "app/lesson/playlist_walk.h"
#include "app/session/session.h"

namespace headwise {

// Once a frame: walk.words, with the numbers of the trace; while the page is on its way, what is awaited;
// where it cannot be shown, why.
void refresh_words(PlaylistWalk& walk, const Session& session, const TracePtr& trace);

// False if what was written on the page that is being edited cannot be shown as it is: walk.words_problem
// then says why, below its fields. Editing goes on until it is mended.
bool words_are_readable(PlaylistWalk& walk, const LiveSubject& subject);

}  // namespace headwise
