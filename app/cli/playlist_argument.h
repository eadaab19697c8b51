// A playlist as the command line names it: a file, or a lesson of the program.
#pragma once

#include <string>

#include "core/playlist/playlist.h"

namespace headwise {

// Whether this is a lesson's name, or a file that holds a playlist. Throws nothing.
bool names_playlist(const std::string& name);

// A lesson of the program, unless a file of that name lies here. Throws as read_playlist_file does.
Playlist playlist_named(const std::string& name);

}  // namespace headwise
