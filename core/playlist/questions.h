// The questions that learners ask about multi-head attention, each a page with its answer in computed numbers
// (assets/questions/questions.json, which is in the program).
#pragma once

#include "core/playlist/playlist.h"

namespace headwise {

// Every page has a title, the question itself. Read once, then kept.
const Playlist& learners_questions();

}  // namespace headwise
