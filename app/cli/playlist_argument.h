// A playlist as the command line names it: a file, or a built-in lesson.
#pragma once

#include <string>

#include "app/cli/report.h"
#include "core/lessons/playlist.h"

namespace headwise {

// Whether this is a lesson's name, or a file that contains a playlist. Throws nothing.
bool names_playlist(const std::string& name);

// A built-in lesson, unless a file of that name exists. Throws as read_checked_playlist does.
Playlist playlist_named(const std::string& name);

// A page as an error names it: "lesson.json: page 3".
std::string page_place(const std::string& playlist, std::size_t page);

// Throws for the first page whose scenario cannot be opened what `headwise run` of it throws before it
// computes, with its place, but for Error(memory). Models that are trained when they are first read are not.
void check_pages(const Playlist& playlist, const std::string& name);

// What headwise info prints about a playlist: how many pages there are, and where each leads.

// In text one line per page: its number, step, view, head, scenario and title. `name` starts the text.
Report playlist_info(const std::string& name, const Playlist& playlist);

}  // namespace headwise
