// headwise list: the names that the other commands accept.
#include <functional>
#include <utility>

#include "app/cli/command_line.h"
#include "app/cli/report.h"
#include "app/cli/standard_streams.h"
#include "core/attention/tensor_names.h"
#include "core/backend/backend.h"
#include "core/export/color_map.h"
#include "core/files/json_text.h"
#include "core/lessons/lessons.h"
#include "core/scenario/mask_presets.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_keys.h"
#include "core/tensor/join.h"
#include "core/train/train_task.h"
#include "core/train/training_changes.h"

namespace headwise {
namespace {

constexpr const char* list_names =
    "presets, lessons, tensors, masks, colormaps, backends, settings, tasks or changes";

// A list is an array of flat JSON objects; the table is built from the same data. The columns are members of
// the entries, or functions of them.
template <class Entries, class... Values>
Json list_of(const Entries& entries, const std::pair<const char*, Values>&... columns) {
  Json list = Json::array();
  for (const auto& entry : entries) {
    Json& row = list.emplace_back();
    ((row[columns.first] = std::invoke(columns.second, entry)), ...);
  }
  return list;
}

Json list_named(const std::string& kind) {
  if (kind == "presets")
    return list_of(presets(), std::pair{"name", &Preset::name}, std::pair{"title", &Preset::title},
                   std::pair{"what", &Preset::what});
  if (kind == "lessons") {
    const auto title = [](const Lesson& lesson) { return lesson_playlist(lesson.name).title; };
    return list_of(lessons(), std::pair{"name", &Lesson::name}, std::pair{"title", title},
                   std::pair{"what", &Lesson::what});
  }
  if (kind == "tensors") {
    constexpr const char* roles[] = {"input", "parameter", "mask", "intermediate"};
    const auto role = [&](const TensorEntry& entry) { return roles[static_cast<std::size_t>(entry.role)]; };
    return list_of(tensor_entries(), std::pair{"name", &TensorEntry::name},
                   std::pair{"shape", &TensorEntry::shape}, std::pair{"role", role},
                   std::pair{"what", &TensorEntry::what});
  }
  if (kind == "masks")
    return list_of(mask_presets(), std::pair{"name", &MaskPresetEntry::form},
                   std::pair{"what", &MaskPresetEntry::what});
  if (kind == "colormaps") {
    const auto sort = [](const ColorMapEntry& entry) { return entry.diverging ? "diverging" : "sequential"; };
    return list_of(color_map_entries(), std::pair{"name", &ColorMapEntry::name}, std::pair{"kind", sort},
                   std::pair{"what", &ColorMapEntry::what});
  }
  if (kind == "backends")
    return list_of(backends(), std::pair{"name", &Backend::name}, std::pair{"what", &Backend::what});
  if (kind == "settings")
    return list_of(scenario_keys(), std::pair{"name", &ScenarioKey::path},
                   std::pair{"type", &ScenarioKey::type}, std::pair{"range", &ScenarioKey::range},
                   std::pair{"default", &ScenarioKey::default_value}, std::pair{"what", &ScenarioKey::what});
  if (kind == "tasks")
    return list_of(task_entries(), std::pair{"name", &TaskEntry::name}, std::pair{"what", &TaskEntry::what});
  if (kind == "changes")
    return list_of(training_change_entries(), std::pair{"name", &TrainingChangeEntry::name},
                   std::pair{"what", &TrainingChangeEntry::question});
  refuse_option("list", "there is no such list", kind, list_names);
}

std::string as_table(const Json& list) {
  std::vector<TextRow> rows;
  for (const Json& row : list) {
    rows.emplace_back();
    for (const Json& word : row) rows.back().push_back(word.get<std::string>());
  }
  return join(aligned(rows), "\n") + "\n";
}

}  // namespace

void run_list(CommandOptions& options, const Words& words) {
  std::string kind;
  bool json = false;
  options.value("KIND", kind, list_names, {.required = true});
  options.flag("--json", json, "Print JSON");
  if (!options.parse(words)) return;
  const Json list = list_named(kind);
  print(json ? json_text(list, {.indent = 2}) + "\n" : as_table(list));
}

}  // namespace headwise
