// What headwise info prints about a playlist: how many pages there are, and where each leads.
#pragma once

#include <string>

#include "app/cli/report.h"
#include "core/playlist/playlist.h"

namespace headwise {

// In text one line per page: its number, step, view, head, scenario and title. `name` starts the text.
Report playlist_info(const std::string& name, const Playlist& playlist);

}  // namespace headwise
