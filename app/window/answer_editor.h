// Where the words of a page are written: what its question is answered with.
#pragma once

#include <string>

#include "app/panels/panel.h"
#include "core/answers/live_value.h"
#include "core/playlist/playlist.h"

namespace headwise {

// Height in pixels of what draw_answer_editor draws for the page in `wrap` pixels of width;
// 0 without a question.
float answer_editor_height(float scale, float wrap, const PlaylistPage& page);

// Edits page.answer and page.veil in place; true if something was changed. A kind that is chosen begins with
// a key from what the window shows: the pinned cell, the step's result.
bool draw_answer_editor(const PanelContext& context, const Playlist& playlist, PlaylistPage& page, float wrap);

// Why the answer cannot stay as it is written, on the present trace and in this playlist; empty if it can.
std::string answer_problem(const Playlist& playlist, const PlaylistPage& page, const LiveSubject& subject);

}  // namespace headwise
