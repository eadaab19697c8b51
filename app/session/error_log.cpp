#include "app/session/error_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>

#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string state_folder() {
  const char* state = std::getenv("XDG_STATE_HOME");
  // The specification says that relative paths are to be ignored.
  if (state != nullptr && state[0] == '/') return std::string(state) + "/headwise";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.local/state/headwise";
}

void ErrorLog::write(const std::string& text) const noexcept {
  if (path_.empty()) return;
  try {
    std::error_code ignored;
    fs::create_directories(fs::path(path_).parent_path(), ignored);
    const std::string line = one_line(text).substr(0, longest_line);
    const std::uintmax_t size = fs::file_size(path_, ignored);
    if (!ignored && size + line.size() > largest_bytes) fs::rename(path_, path_ + ".old", ignored);
    std::ofstream(path_, std::ios::app)
        << fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}\n", fmt::gmtime(std::time(nullptr)), line);
  } catch (const std::exception&) {
    // Never throws, as the header says.
  }
}

std::vector<std::string> ErrorLog::last_lines(std::size_t most) const {
  std::vector<std::string> lines;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return lines;
}

}  // namespace headwise
