// Unsaved work is kept in the state folder on exit and can be reopened: no question on the way out,
// and nothing is lost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/lessons/playlist.h"

namespace headwise {

// An empty folder keeps nothing. False if nothing was kept. Never throw.
bool keep_scenario(const std::string& folder, const Scenario& scenario);
bool keep_playlist(const std::string& folder, const Playlist& playlist);

// What was kept last; none if there is nothing. Throw Error if the file is damaged.
std::optional<Scenario> kept_scenario(const std::string& folder);
std::optional<Playlist> kept_playlist(const std::string& folder);

// The scenarios, playlists and array files opened or saved last, newest first. Kept in the XDG state folder;
// the file is written whole or not at all.

inline constexpr std::size_t most_recent_files = 10;

// $XDG_STATE_HOME/headwise/recent.json, else ~/.local/state/headwise/recent.json; empty where neither is set.
std::string recent_files_path();

// Absolute paths. A missing or damaged list is treated as empty: only a convenience is lost. Never throws.
std::vector<std::string> load_recent_files(const std::string& path);

// The list with `file`, as an absolute path, at its front, truncated to most_recent_files.
std::vector<std::string> with_recent_file(std::vector<std::string> files, const std::string& file);

// Creates the folder if missing. Throws Error(output); an empty path does nothing.
void save_recent_files(const std::string& path, const std::vector<std::string>& files);

// What went wrong, kept for later reading: every error notice is also a line in a file.

// $XDG_STATE_HOME/headwise, else ~/.local/state/headwise; empty where neither is set.
std::string state_folder();

class ErrorLog {
 public:
  // A file that grows beyond this is renamed to FILE.old, replacing the previous one:
  // at most these two are kept.
  static constexpr std::size_t largest_bytes = std::size_t{256} << 10U;
  // Longest line; the rest is cut.
  static constexpr std::size_t longest_line = 4096;

  // An empty path: nothing is written.
  explicit ErrorLog(std::string path = "") : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Appends "2026-02-03T04:05:06Z text", always as one line whatever the text contains; creates the folder if
  // missing. Never throws: an unwritable log is no reason to stop.
  void write(const std::string& text) const noexcept;
  // The last lines of the file, at most `most`, newest last; none if it cannot be read.
  std::vector<std::string> last_lines(std::size_t most) const;

 private:
  std::string path_;
};

}  // namespace headwise
