#include "core/lessons/lessons.h"

#include <array>
#include <map>
#include <vector>

#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

// assets/lessons/NAME.json, embedded by assets/embed.cmake.
namespace embedded {
std::span<const unsigned char> lesson_first_walk();
std::span<const unsigned char> lesson_questions();
std::span<const unsigned char> lesson_heads_differ();
std::span<const unsigned char> lesson_break_it();
std::span<const unsigned char> lesson_since_2017();
}  // namespace embedded

namespace {

std::string_view text(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::map<std::string_view, Playlist> read_all() {
  std::map<std::string_view, Playlist> playlists;
  for (const Lesson& lesson : lessons())
    playlists.emplace(lesson.name, playlist_from_json(lesson.json, "lesson " + std::string(lesson.name)));
  return playlists;
}

}  // namespace

std::span<const Lesson> lessons() {
  static const std::array<Lesson, 5> all{{
      {"first_walk", "one word through the layer, step by step", false, text(embedded::lesson_first_walk())},
      {"questions", "34 questions learners ask, each answered with numbers", true,
       text(embedded::lesson_questions())},
      {"heads_differ", "a model is trained before your eyes: why its heads do different things", false,
       text(embedded::lesson_heads_differ())},
      {"break_it", "what goes wrong without the scale, the positions, the mask …", false,
       text(embedded::lesson_break_it())},
      {"since_2017", "what today's layers have that the paper's did not: one change a page", false,
       text(embedded::lesson_since_2017())},
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
