// What a person leaves without saving it is kept in the state folder, and can be reopened: nobody is asked on the way out,
// and nothing is lost.
#pragma once

#include <optional>
#include <string>

#include "core/playlist/playlist.h"

namespace headwise {

// An empty folder keeps nothing. False where nothing was kept. Never throw.
bool keep_scenario(const std::string& folder, const Scenario& scenario);
bool keep_playlist(const std::string& folder, const Playlist& playlist);

// What was kept last; none where there is nothing. Throw Error where the file is damaged.
std::optional<Scenario> kept_scenario(const std::string& folder);
std::optional<Playlist> kept_playlist(const std::string& folder);

}  // namespace headwise
