// The scenarios, playlists and array files that were opened or saved last, the newest first. Kept in the XDG state folder, written
// whole or not at all.
#pragma once

#include <string>
#include <vector>

namespace headwise {

inline constexpr std::size_t most_recent_files = 10;

// $XDG_STATE_HOME/headwise/recent.json, else ~/.local/state/headwise/recent.json; empty where neither is set.
std::string recent_files_path();

// Absolute paths. A list that is missing or damaged is empty: nothing is lost but a convenience. Never throws.
std::vector<std::string> load_recent_files(const std::string& path);

// The list with `file`, as an absolute path, at its head and at most most_recent_files long.
std::vector<std::string> with_recent_file(std::vector<std::string> files, const std::string& file);

// Makes the folder where it is missing. Throws Error(output); an empty path does nothing.
void save_recent_files(const std::string& path, const std::vector<std::string>& files);

}  // namespace headwise
