#include "app/session/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/session/folder_listing.h"
#include "core/files/atomic_file.h"
#include "core/files/json_text.h"
#include "core/files/json_value.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_settings_file = 1U << 20U;
constexpr JsonLimits deepest{
    .levels = 32, .values = 100'000, .keys = 100'000};  // unknown values are written again
constexpr const char* suggestions_key = "suggestions_done";

// Throws if the file is not a settings file.
nlohmann::ordered_json read_json(const std::string& path) {
  if (fs::file_size(path) > largest_settings_file) throw std::runtime_error("too large");
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  try {
    parse_strict_json(text, deepest);
  } catch (const JsonRefusal& refusal) {
    throw std::runtime_error(refusal.what);
  }
  nlohmann::ordered_json json = ordered_json_of(text);
  if (!json.is_object()) throw std::runtime_error("not an object");
  return json;
}

// Throws if a value has the wrong type.
Settings settings_of(const nlohmann::ordered_json& json) {
  Settings settings;
  const auto read = [&json](const char* key, auto& member) {
    if (json.contains(key)) json[key].get_to(member);
  };
  std::string theme;
  read("theme", theme);
  settings.theme = find_theme(theme).value_or(Theme::dark);
  read("font_scale", settings.font_scale);
  settings.font_scale =
      std::clamp(settings.font_scale, Settings::smallest_font_scale, Settings::largest_font_scale);
  read("motion_speed", settings.motion_speed);
  settings.motion_speed = std::clamp(settings.motion_speed, Settings::slowest_motion, Settings::fastest_motion);
  read("first_steps", settings.first_steps);
  read("opening_scene", settings.opening_scene);
  read("reduce_motion", settings.reduce_motion);
  read("filmstrip", settings.filmstrip);
  read("filmstrip_of_lessons", settings.filmstrip_of_lessons);
  if (const auto done = json.find(suggestions_key); done != json.end()) {
    for (const SuggestionEntry& entry : suggestion_entries())
      settings.suggestions_done[static_cast<std::size_t>(entry.id)] =
          std::ranges::find(*done, entry.name) != done->end();
  }
  return settings;
}

std::vector<std::string> suggestion_names(const SuggestionSet& set) {
  std::vector<std::string> names;
  for (const SuggestionEntry& entry : suggestion_entries())
    if (set[static_cast<std::size_t>(entry.id)]) names.emplace_back(entry.name);
  return names;
}

// Of `from`, to `names`.
void append_unknown_suggestions(nlohmann::ordered_json& names, const nlohmann::ordered_json& from) {
  for (const nlohmann::ordered_json& name : from)
    if (std::ranges::none_of(suggestion_entries(),
                             [&](const SuggestionEntry& entry) { return name == entry.name; }))
      names.push_back(name);
}

nlohmann::ordered_json json_of_settings(const Settings& settings) {
  return {{"theme", theme_names[static_cast<std::size_t>(settings.theme)]},
          {"font_scale", settings.font_scale},
          {"motion_speed", settings.motion_speed},
          {"first_steps", settings.first_steps},
          {"opening_scene", settings.opening_scene},
          {suggestions_key, suggestion_names(settings.suggestions_done)},
          {"reduce_motion", settings.reduce_motion},
          {"filmstrip", settings.filmstrip},
          {"filmstrip_of_lessons", settings.filmstrip_of_lessons}};
}

}  // namespace

std::string settings_path() {
  const std::string folder = user_folder("XDG_CONFIG_HOME", "/.config");
  return folder.empty() ? "" : folder + "/settings.json";
}

LoadedSettings load_settings(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !fs::is_regular_file(path, ignored)) return {};
  try {
    return {settings_of(read_json(path)), ""};
  } catch (const std::exception&) {
    const std::string aside = path + ".damaged";
    std::error_code failed;
    fs::rename(path, aside, failed);
    return {{},
            failed ? fmt::format("{} could not be read; using the defaults", path)
                   : fmt::format("{} was damaged and was renamed to {}; using the defaults", path, aside)};
  }
}

void save_settings(const std::string& path, const Settings& settings) {
  if (path.empty()) return;
  make_folder_of(path, "the settings");
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  Settings before;
  try {
    json = read_json(path);
    before = settings_of(json);
  } catch (const std::exception&) {
    json = nlohmann::ordered_json::object();  // missing or damaged: nothing of it stays
  }
  // What a newer version has written stays: keys that are unknown here, and values that are, as long as the
  // setting is not changed.
  const nlohmann::ordered_json written = json_of_settings(settings), same = json_of_settings(before);
  for (const auto& [key, value] : written.items()) {
    if (json.contains(key) && same[key] == value) continue;
    nlohmann::ordered_json changed = value;
    if (key == suggestions_key && json.contains(key)) append_unknown_suggestions(changed, json[key]);
    json[key] = std::move(changed);
  }
  write_file_atomically(path, json_text(json, {.indent = 2}) + "\n");
}

}  // namespace headwise
