// Whether the questions of a playlist have the keys they need, computed from their own scenarios.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/lessons/answer_key.h"
#include "core/lessons/live_value.h"
#include "core/lessons/page_words.h"
#include "core/lessons/playlist.h"

namespace headwise {

// The key of a page that takes an answer, and of a choice the options with their numbers.
struct PageKey {
  std::size_t page = 0;  // counted from 0
  AnswerKey key;
  std::vector<std::string> options;
  bool too_large =
      false;  // the scenario is too large, or its model is not trained, here: there is no key, and no problem
};

// Sees a question while the numbers of its page are there.
using SeenQuestion = std::function<void(std::size_t page, const PageWords&, const LiveSubject&)>;

// Of every page that takes an answer, in their order. Computes the scenarios that are small enough
// (computes_at_once), which may take some milliseconds each; with `trains_models` also those of models that
// are trained first, which takes a second or more each. Calls `seen` for each that has a key. Throws an
// Error, one sentence that begins with `where`: with its own status for a scenario that cannot be computed;
// else Error(usage) for a key that is missing, NaN or infinite, options of which not exactly one holds, and a
// "see" that names no page.
std::vector<PageKey> checked_keys(const Playlist& playlist, const std::string& where,
                                  bool trains_models = false, const SeenQuestion& seen = {});

// A page by its title: of this playlist, or else of a built-in lesson, whose own title is that of its first
// page.
struct TitledPage {
  std::string lesson;  // empty: of this playlist
  std::size_t page = 0;
};
std::optional<TitledPage> page_titled(const Playlist& playlist, const std::string& title);

// Reads a playlist's file and checks its keys. Throws as read_playlist_file and checked_keys do.
Playlist read_checked_playlist(const std::string& path);

}  // namespace headwise
