#include "app/cli/playlist_argument.h"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/session/answer_check.h"
#include "app/session/computation.h"
#include "core/attention/check_attention_inputs.h"
#include "core/files/json_text.h"
#include "core/lessons/lessons.h"
#include "core/lessons/page_words.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

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

std::string view_word(const PlaylistPage& page) {
  const std::string word(stage_view_words[static_cast<std::size_t>(page.view)]);
  return page.beside ? fmt::format("{} {}", word, compare_word(*page.beside)) : word;
}

// How many entries of the two scenarios' files differ, such as "attention.scale".
std::size_t differences(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) return a == b ? 0 : 1;
  // A section that is left out has the defaults of all its entries.
  const auto missing = [](const Json& value) { return value.is_object() ? Json(Json::object()) : Json(); };
  std::size_t count = 0;
  for (const auto& [key, value] : a.items())
    count += differences(value, b.contains(key) ? b[key] : missing(value));
  for (const auto& [key, value] : b.items())
    if (!a.contains(key)) count += differences(missing(value), value);
  return count;
}

// What the page shows: a file or a preset, with what differs if that can be summarised; else "own scenario".
std::string scenario_words(const Scenario& scenario) {
  // A page that changes a preset differs from it in a few entries; one with its own scenario in many.
  constexpr std::size_t few = 5;
  const Json own = ordered_json_of(scenario_to_json(scenario));
  std::string nearest;
  std::size_t least = few + 1;
  for (const Preset& preset : presets()) {
    const std::size_t count =
        differences(own, ordered_json_of(scenario_to_json(preset_scenario(std::string(preset.name)))));
    if (count >= least) continue;
    least = count;
    nearest = preset.name;
  }
  const ScenarioOrigin& origin = scenario.origin;
  if (origin.file.empty()) {
    if (nearest.empty()) return "own scenario";
    return least == 0 ? nearest : fmt::format("{}, {} changed", nearest, least);
  }
  std::string words = one_line(std::filesystem::path(origin.file).filename().string());
  if (!origin.changed.empty()) words += fmt::format(", {} changed", origin.changed.size());
  if (nearest.empty()) return words;
  if (least == 0) return words + fmt::format(" (the same as {})", nearest);
  return words +
         fmt::format(" (differs from {} in {})", nearest, counted(static_cast<Index>(least), "setting"));
}

}  // namespace

bool names_playlist(const std::string& name) {
  return is_lesson(name) || is_playlist_file(name);
}

Playlist playlist_named(const std::string& name) {
  if (is_preset(name))
    throw Error(ExitStatus::usage,
                {name, "this is a preset, which has no pages", "", "a playlist file or the name of a lesson",
                 "headwise run and headwise export take presets"});
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

Report playlist_info(const std::string& name, const Playlist& playlist) {
  const std::vector<PlaylistPage>& pages = playlist.pages;
  const std::size_t digits = std::to_string(pages.size()).size();
  Report report;
  report.add_line("{}: playlist, {}{}\n",
                  {text_cell("file", name),
                   {"format", "headwise_playlist"},
                   counted(std::ssize(pages), "page"),
                   {"title", playlist.title, playlist.title.empty() ? "" : ": " + one_line(playlist.title)}});
  Json& list = report.json["pages"] = Json::array();
  std::vector<TextRow> rows;
  std::vector<std::string> asked(pages.size());
  const std::vector<PageKey> keys = checked_keys(playlist, name, true);
  auto next = keys.begin();
  std::string scenario;
  ComputationPtr computed;  // of the last page: the next one may share it
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const PlaylistPage& page = pages[i];
    if (i == 0 || pages[i - 1].scenario != page.scenario) scenario = scenario_words(*page.scenario);
    rows.push_back({fmt::format("{:>{}}", i + 1, digits), step_word(page.step), view_word(page),
                    fmt::format("head {}", page.head), scenario, one_line(page.title)});
    Json& json = list.emplace_back(Json{{"title", page.title},
                                        {"step", step_word(page.step)},
                                        {"view", view_word(page)},
                                        {"batch", page.batch},
                                        {"head", page.head},
                                        {"scenario", scenario},
                                        {"asks", !page.ask.empty()}});
    if (computes_at_once(*page.scenario)) {
      computed = compute(*page.scenario, computed.get());
      // As in the window, with what a model's layer determines; a page of a model leaves that open.
      const Scenario filled = with_layer_values(*page.scenario);
      const PageWords words = page_words(page, filled, computed->inputs, *computed->trace);
      json["says"] = {{"ask", words.ask}, {"caption", words.caption}};
    }
    if (page.pin) json["pin"] = {{"tensor", to_string(page.pin->tensor)}, {"index", page.pin->index}};
    if (next == keys.end() || next->page != i) continue;
    const AnswerKey* const key = next->too_large ? nullptr : &next->key;
    json["answer"] = key_json(*page.answer, key, next->options);
    asked[i] = fmt::format("  {:>{}}  {}\n", "", digits, key_words(*page.answer, key, next->options));
    ++next;
  }
  const std::vector<std::string> lines = aligned(rows);
  for (std::size_t i = 0; i < pages.size(); ++i) report.text += "  " + lines[i] + "\n" + asked[i];
  return report;
}

}  // namespace headwise
