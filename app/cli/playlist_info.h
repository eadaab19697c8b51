// What headwise info says of a playlist: how many pages there are, and where each leads.
#pragma once

#include <string>

#include "core/playlist/playlist.h"

namespace headwise {

// A line a page: its number, step, view, head, scenario and title. `name` begins the text.
std::string playlist_info_text(const std::string& name, const Playlist& playlist);
std::string playlist_info_json(const std::string& name, const Playlist& playlist);

// The preset that the page shows, "hand_made"; with what differs where one can be told, else "own scenario".
std::string scenario_words(const Scenario& scenario);

}  // namespace headwise
