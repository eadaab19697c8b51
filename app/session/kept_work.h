// Unsaved work is kept in the state folder on exit and can be reopened: no question on the way out,
// and nothing is lost.
#pragma once

#include <optional>
#include <string>

#include "core/playlist/playlist.h"

namespace headwise {

// An empty folder keeps nothing. False if nothing was kept. Never throw.
bool keep_scenario(const std::string& folder, const Scenario& scenario);
bool keep_playlist(const std::string& folder, const Playlist& playlist);

// What was kept last; none if there is nothing. Throw Error if the file is damaged.
std::optional<Scenario> kept_scenario(const std::string& folder);
std::optional<Playlist> kept_playlist(const std::string& folder);

}  // namespace headwise
