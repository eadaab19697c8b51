// Lessons: the built-in playlists (assets/lessons). A walk through one layer, questions that learners ask,
// and ways to break the operator. Every number in their texts is read from the trace.
#pragma once

#include <span>
#include <string_view>

#include "core/lessons/playlist.h"

namespace headwise {

struct Lesson {
  std::string_view name;  // "first_walk"
  std::string_view what;  // one line
  bool by_page;           // its pages are independent and chosen one by one: questions
  std::string_view json;  // the playlist file
};

std::span<const Lesson> lessons();

// Returns a lesson, read once and cached; every page has a title. Throws Error(usage)
// that names the nearest lesson.
const Playlist& lesson_playlist(std::string_view name);

}  // namespace headwise
