#include "app/cli/playlist_argument.h"

#include <algorithm>
#include <filesystem>

#include "app/session/answer_check.h"
#include "core/playlist/lessons.h"
#include "core/scenario/presets.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

bool is_file(const std::string& name) {
  std::error_code error;  // a name that no file can have is a lesson's, a preset's or unknown
  return std::filesystem::exists(name, error);
}

bool is_lesson(const std::string& name) {
  const bool known = std::ranges::any_of(lessons(), [&](const Lesson& lesson) { return lesson.name == name; });
  return known && !is_file(name);
}

bool is_preset(const std::string& name) {
  const bool known = std::ranges::any_of(presets(), [&](const Preset& preset) { return preset.name == name; });
  return known && !is_lesson(name) && !is_file(name);
}

}  // namespace

bool names_playlist(const std::string& name) {
  return is_lesson(name) || is_playlist_file(name);
}

Playlist playlist_named(const std::string& name) {
  if (is_preset(name)) {
    throw Error(ExitStatus::usage,
                {name, "this is a preset, which has no pages", "", "a playlist file or the name of a lesson",
                 "headwise run and headwise export take presets"});
  }
  return is_lesson(name) ? lesson_playlist(name) : read_checked_playlist(name);
}

}  // namespace headwise
