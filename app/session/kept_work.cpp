#include "app/session/kept_work.h"

#include <filesystem>

#include "core/scenario/scenario_json.h"

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

}  // namespace headwise
