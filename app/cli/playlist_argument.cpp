#include "app/cli/playlist_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/session/answer_check.h"
#include "app/session/computation.h"
#include "core/playlist/lessons.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "core/trace/check_attention_inputs.h"

namespace headwise {
namespace {

bool is_file(const std::string& name) {
  std::error_code error;  // a name that no file can have is a lesson's, a preset's or unknown
  return std::filesystem::exists(name, error);
}

bool is_lesson(const std::string& name) {
  const bool known = std::ranges::any_of(lessons(), [&](const Lesson& lesson) { return lesson.name == name; });
  return known && !is_file(name);
}

bool is_preset(const std::string& name) {
  const bool known = std::ranges::any_of(presets(), [&](const Preset& preset) { return preset.name == name; });
  return known && !is_lesson(name) && !is_file(name);
}

}  // namespace

bool names_playlist(const std::string& name) {
  return is_lesson(name) || is_playlist_file(name);
}

Playlist playlist_named(const std::string& name) {
  if (is_preset(name)) {
    throw Error(ExitStatus::usage,
                {name, "this is a preset, which has no pages", "", "a playlist file or the name of a lesson",
                 "headwise run and headwise export take presets"});
  }
  return is_lesson(name) ? lesson_playlist(name) : read_checked_playlist(name);
}

std::string page_place(const std::string& playlist, std::size_t page) {
  return fmt::format("{}: page {}", playlist, page + 1);
}

void check_pages(const Playlist& playlist, const std::string& name) {
  std::optional<ScenarioInputs> last;  // pages have much in common
  for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
    const ScenarioPtr& scenario = playlist.pages[page].scenario;
    if ((page > 0 && scenario == playlist.pages[page - 1].scenario) || waits_for_model(*scenario)) continue;
    try {
      last = make_scenario_inputs(*scenario, DType::f32, {}, last ? &*last : nullptr,
                                  {.maps = least_reference_maps});
      check_attention_inputs(last->attention);
    } catch (const Error& error) {
      if (error.status() == ExitStatus::memory)
        continue;  // shown with the beginning of its text, or not at all
      throw Error(error.status(), {.where = page_place(name, page), .what = error.what()});
    }
  }
}

}  // namespace headwise
