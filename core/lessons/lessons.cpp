#include "core/lessons/lessons.h"

#include <array>
#include <map>
#include <vector>

#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

// assets/lessons/NAME.json, embedded by assets/embed.cmake.
std::string_view embedded_lesson_first_walk(), embedded_lesson_questions(), embedded_lesson_heads_differ(),
    embedded_lesson_break_it(), embedded_lesson_since_2017();

namespace {

std::map<std::string_view, Playlist> read_all() {
  std::map<std::string_view, Playlist> playlists;
  for (const Lesson& lesson : lessons())
    playlists.emplace(lesson.name, playlist_from_json(lesson.json, "lesson " + std::string(lesson.name)));
  return playlists;
}

}  // namespace

std::span<const Lesson> lessons() {
  static const std::array<Lesson, 5> all{{
      {"first_walk", "one word through the layer, step by step", false, embedded_lesson_first_walk()},
      {"questions", "39 questions learners ask, each answered with numbers", true, embedded_lesson_questions()},
      {"heads_differ", "a model is trained before your eyes: why its heads do different things", false,
       embedded_lesson_heads_differ()},
      {"break_it", "what goes wrong without the scale, the positions, the mask …", false,
       embedded_lesson_break_it()},
      {"since_2017", "what today's layers have that the paper's did not: one change a page", false,
       embedded_lesson_since_2017()},
  }};
  return all;
}

const Playlist& lesson_playlist(std::string_view name) {
  static const std::map<std::string_view, Playlist> playlists = read_all();
  if (const auto found = playlists.find(name); found != playlists.end()) return found->second;
  std::vector<std::string> names;
  for (const Lesson& lesson : lessons()) names.emplace_back(lesson.name);
  throw Error(ExitStatus::usage, {.where = "lesson " + std::string(name),
                                  .what = "there is no lesson of this name",
                                  .expected = join(names, ", "),
                                  .remedy = did_you_mean(name, names)});
}

}  // namespace headwise
