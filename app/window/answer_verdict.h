// How the answer given to a page's question compares with its key, in words.
#pragma once

#include <string>

#include "app/window/playlist_walk.h"

namespace headwise {

// With the key on the screen: "You said 0.4; it is 0.901: 0.501 too low." If no answer was given, what is right.
std::string answer_verdict(const PlaylistWalk& walk);

// "It is 0.901 of 1.", "The right head is 7." Empty if the page takes no answer, or is changed so that none is right.
std::string right_answer(const PlaylistWalk& walk);

// Of an option of a choice, given or not.
std::string choice_verdict(const PageWords& words, std::size_t given);

}  // namespace headwise
