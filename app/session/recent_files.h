// The scenarios, playlists and array files opened or saved last, newest first. Kept in the XDG state folder;
// the file is written whole or not at all.
#pragma once

#include <string>
#include <vector>

namespace headwise {

inline constexpr std::size_t most_recent_files = 10;

// $XDG_STATE_HOME/headwise/recent.json, else ~/.local/state/headwise/recent.json; empty where neither is set.
std::string recent_files_path();

// Absolute paths. A missing or damaged list is treated as empty: only a convenience is lost. Never throws.
std::vector<std::string> load_recent_files(const std::string& path);

// The list with `file`, as an absolute path, at its front, truncated to most_recent_files.
std::vector<std::string> with_recent_file(std::vector<std::string> files, const std::string& file);

// Creates the folder if missing. Throws Error(output); an empty path does nothing.
void save_recent_files(const std::string& path, const std::vector<std::string>& files);

}  // namespace headwise
