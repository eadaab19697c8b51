#include "app/session/kept_work.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/session/folder_listing.h"
#include "core/files/atomic_file.h"
#include "core/files/json_text.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr const char* scenario_name = "/left.json";
constexpr const char* playlist_name = "/left_playlist.json";

template <class Write>
bool keep(const std::string& folder, const char* name, const Write& write) {
  if (folder.empty()) return false;
  try {
    fs::create_directories(folder);
    write(folder + name);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool is_there(const std::string& folder, const char* name) {
  std::error_code missing;
  return !folder.empty() && fs::is_regular_file(folder + name, missing);
}

}  // namespace

bool keep_scenario(const std::string& folder, const Scenario& scenario) {
  return keep(folder, scenario_name, [&](const std::string& path) { write_scenario_file(scenario, path); });
}

bool keep_playlist(const std::string& folder, const Playlist& playlist) {
  return keep(folder, playlist_name,
              [&](const std::string& path) { write_playlist_file(playlist, path, PlaylistText::draft); });
}

std::optional<Scenario> kept_scenario(const std::string& folder) {
  if (!is_there(folder, scenario_name)) return std::nullopt;
  return read_scenario_file(folder + scenario_name);
}

std::optional<Playlist> kept_playlist(const std::string& folder) {
  if (!is_there(folder, playlist_name)) return std::nullopt;
  return read_playlist_file(folder + playlist_name, PlaylistText::draft);
}

namespace {

constexpr std::uintmax_t largest_file = 1U << 20U;

}  // namespace

std::string recent_files_path() {
  const std::string folder = state_folder();
  return folder.empty() ? "" : folder + "/recent.json";
}

std::vector<std::string> load_recent_files(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) > largest_file)
    return {};
  try {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::string> files;
    for (const nlohmann::json& entry : json_of(std::string(std::istreambuf_iterator<char>(file), {}))) {
      if (!entry.is_string() || entry.get_ref<const std::string&>().empty()) continue;
      if (files.size() < most_recent_files) files.push_back(entry.get<std::string>());
    }
    return files;
  } catch (const std::exception&) {
    return {};
  }
}

std::vector<std::string> with_recent_file(std::vector<std::string> files, const std::string& file) {
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  const std::string path = error ? file : absolute.lexically_normal().string();
  std::erase(files, path);
  files.insert(files.begin(), path);
  if (files.size() > most_recent_files) files.resize(most_recent_files);
  return files;
}

void save_recent_files(const std::string& path, const std::vector<std::string>& files) {
  if (path.empty()) return;
  make_folder_of(path, "the recent files");
  const nlohmann::json json(files);
  write_file_atomically(path, json_text(json, {.indent = 2, .replaces_bytes = true}) + "\n");
}

std::string state_folder() {
  return user_folder("XDG_STATE_HOME", "/.local/state");
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
