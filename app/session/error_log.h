// What went wrong, kept for later reading: every error notice is also a line in a file.
#pragma once

#include <string>
#include <vector>

namespace headwise {

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
