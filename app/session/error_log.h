// What went wrong, kept where it can be read later: every notice of an error is also a line in a file.
#pragma once

#include <string>

namespace headwise {

// $XDG_STATE_HOME/headwise, else ~/.local/state/headwise; empty where neither is set.
std::string state_folder();

class ErrorLog {
 public:
  // A file that grows beyond this becomes FILE.old, in the place of the one before: two of them are all that is kept.
  static constexpr std::size_t largest_bytes = std::size_t{256} << 10U;
  // Of a line; the rest is cut.
  static constexpr std::size_t longest_line = 4096;

  // An empty path: nothing is kept.
  explicit ErrorLog(std::string path = "") : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Appends "2026-02-03T04:05:06Z text", one line whatever is in the text; makes the folder where it is missing. Never
  // throws: a log that cannot be written is no reason to stop.
  void write(const std::string& text) const noexcept;

 private:
  std::string path_;
};

}  // namespace headwise
