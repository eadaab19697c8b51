#include "core/playlist/questions.h"

#include <span>

namespace headwise {

// assets/questions/questions.json, put into the program by assets/embed.cmake.
namespace embedded {
std::span<const unsigned char> learners_questions();
}

const Playlist& learners_questions() {
  static const Playlist playlist = [] {
    const std::span<const unsigned char> bytes = embedded::learners_questions();
    return playlist_from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "questions");
  }();
  return playlist;
}

}  // namespace headwise
