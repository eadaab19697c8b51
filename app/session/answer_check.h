// Whether the questions of a playlist have the keys they need, computed from their own scenarios.
#pragma once

#include <string>
#include <vector>

#include "core/playlist/answer_key.h"
#include "core/playlist/playlist.h"

namespace headwise {

// The key of a page that takes an answer, and of a choice the options with their numbers.
struct PageKey {
  std::size_t page = 0;  // counted from 0
  AnswerKey key;
  std::vector<std::string> options;
  bool too_large = false;  // the scenario is too large to be computed here: there is no key, and no problem
};

// Of every page that takes an answer, in their order. Computes the scenarios that are small enough
// (computes_at_once), which may take some milliseconds each. Throws Error(usage), one sentence that begins with `where`: a
// scenario that cannot be computed, a key that is missing, NaN or infinite, options of which not exactly one holds, and a
// "see" that names no page.
std::vector<PageKey> checked_keys(const Playlist& playlist, const std::string& where);

// A page by its title: of this playlist, or else of a built-in lesson.
struct TitledPage {
  std::string lesson;  // empty: of this playlist
  std::size_t page = 0;
};
std::optional<TitledPage> page_titled(const Playlist& playlist, const std::string& title);

// Reads a playlist's file and checks its keys. Throws as read_playlist_file and checked_keys do.
Playlist read_checked_playlist(const std::string& path);

}  // namespace headwise
