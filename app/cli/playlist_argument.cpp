#include "app/cli/playlist_argument.h"

#include <algorithm>
#include <filesystem>

#include "core/playlist/lessons.h"

namespace headwise {
namespace {

bool is_lesson(const std::string& name) {
  std::error_code error;  // a name that no file can have is a lesson's or nobody's
  const bool known =
      std::ranges::any_of(lessons(), [&](const Lesson& lesson) { return lesson.name == name; });
  return known && !std::filesystem::exists(name, error);
}

}  // namespace

bool names_playlist(const std::string& name) {
  return is_lesson(name) || is_playlist_file(name);
}

Playlist playlist_named(const std::string& name) {
  return is_lesson(name) ? lesson_playlist(name) : read_playlist_file(name);
}

}  // namespace headwise
