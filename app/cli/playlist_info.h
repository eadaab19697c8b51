// What headwise info prints about a playlist: how many pages there are, and where each leads.
#pragma once

#include <string>

#include "core/playlist/playlist.h"

namespace headwise {

// One line per page: its number, step, view, head, scenario and title. `name` starts the text.
std::string playlist_info_text(const std::string& name, const Playlist& playlist);
std::string playlist_info_json(const std::string& name, const Playlist& playlist);

}  // namespace headwise
