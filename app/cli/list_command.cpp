// headwise list: the names that the other commands accept.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "core/backend/backend.h"
#include "core/files/json_text.h"
#include "core/picture/color_map.h"
#include "core/playlist/lessons.h"
#include "core/scenario/mask_presets.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_keys.h"
#include "core/tensor/error.h"
#include "core/trace/tensor_names.h"
#include "core/train/train_task.h"
#include "core/train/training_changes.h"

namespace headwise {
namespace {

using Json = nlohmann::ordered_json;

// A list is an array of flat JSON objects; the table is built from the same data.
Json preset_list() {
  Json list = Json::array();
  for (const Preset& preset : presets()) {
    list.push_back({{"name", preset.name}, {"title", preset.title}, {"what", preset.what}});
  }
  return list;
}

Json tensor_list() {
  constexpr const char* roles[] = {"input", "parameter", "mask", "intermediate"};
  Json list = Json::array();
  for (const TensorEntry& entry : tensor_entries()) {
    list.push_back({{"name", entry.name},
                    {"shape", entry.shape},
                    {"role", roles[static_cast<std::size_t>(entry.role)]},
                    {"what", entry.what}});
  }
  return list;
}

Json color_map_list() {
  Json list = Json::array();
  for (const ColorMapEntry& entry : color_map_entries()) {
    list.push_back(
        {{"name", entry.name}, {"kind", entry.diverging ? "diverging" : "sequential"}, {"what", entry.what}});
  }
  return list;
}

Json backend_list() {
  Json list = Json::array();
  for (const Backend& backend : backends()) list.push_back({{"name", backend.name}, {"what", backend.what}});
  return list;
}

std::string as_table(const Json& list) {
  std::map<std::string, std::size_t> widths;
  const auto width_of = [](const std::string& text) {  // in characters: shapes contain · and ′
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
  };
  for (const Json& row : list) {
    for (const auto& [key, value] : row.items())
      widths[key] = std::max(widths[key], width_of(value.get<std::string>()));
  }
  std::string text;
  for (const Json& row : list) {
    std::string line;
    for (const auto& [key, value] : row.items()) {
      const std::string word = value.get<std::string>();
      line += word + std::string(widths[key] - width_of(word) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Json mask_list() {
  Json list = Json::array();
  for (const MaskPresetEntry& entry : mask_presets())
    list.push_back({{"name", entry.form}, {"what", entry.what}});
  return list;
}

Json lesson_list() {
  Json list = Json::array();
  for (const Lesson& lesson : lessons()) {
    list.push_back(
        {{"name", lesson.name}, {"title", lesson_playlist(lesson.name).title}, {"what", lesson.what}});
  }
  return list;
}

Json setting_list() {
  Json list = Json::array();
  for (const ScenarioKey& key : scenario_keys()) {
    list.push_back({{"name", key.path},
                    {"type", key.type},
                    {"range", key.range},
                    {"default", key.default_value},
                    {"what", key.what}});
  }
  return list;
}

Json task_list() {
  Json list = Json::array();
  for (const TaskEntry& entry : task_entries()) list.push_back({{"name", entry.name}, {"what", entry.what}});
  return list;
}

Json change_list() {
  Json list = Json::array();
  for (const TrainingChangeEntry& entry : training_change_entries())
    list.push_back({{"name", entry.name}, {"what", entry.question}});
  return list;
}

struct ListEntry {
  std::string_view name;
  Json (*list)();
};
constexpr ListEntry lists[] = {
    {"presets", preset_list},   {"lessons", lesson_list},      {"tensors", tensor_list},
    {"masks", mask_list},       {"colormaps", color_map_list}, {"backends", backend_list},
    {"settings", setting_list}, {"tasks", task_list},          {"changes", change_list}};
constexpr const char* list_names =
    "presets, lessons, tensors, masks, colormaps, backends, settings, tasks or changes";

}  // namespace

void run_list(CommandOptions& options, const Words& words) {
  std::string kind;
  bool json = false;
  options.value("KIND", kind, list_names, {.required = true});
  options.flag("--json", json, "Print JSON");
  if (!options.parse(words)) return;
  for (const ListEntry& entry : lists) {
    if (entry.name != kind) continue;
    const Json list = entry.list();
    return print(json ? json_text(list, {.indent = 2}) + "\n" : as_table(list));
  }
  throw Error(ExitStatus::usage, {"list", "there is no such list", kind, list_names, ""});
}

}  // namespace headwise
