#include "app/cli/playlist_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/session/answer_check.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

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

// "asks for a number; key: attn_weights[0,0,8,7] = 0.947"
std::string key_words(const PageKey& key, const PageAnswer& answer) {
  const char* too_large = "not computed here: the scenario is too large";
  if (answer.kind == AnswerKind::weights) {
    std::string row;
    for (const double weight : key.too_large ? std::vector<double>{} : key.key.weights->weights)
      row += fmt::format("{}{:.2f}", row.empty() ? "= " : " ", weight);
    return fmt::format("asks for a row of weights; key: {} {}, ± {:g}", one_line(answer.is),
                       key.too_large ? too_large : row, answer.within);
  }
  if (answer.kind == AnswerKind::mask) {
    if (key.too_large) return fmt::format("asks for a mask; key: {} {}", one_line(answer.is), too_large);
    const MaskKey& mask = *key.key.mask;
    return fmt::format("asks for a mask of {}×{} pairs; key: {}, in {} of them", mask.rows, mask.columns,
                       one_line(answer.is), std::ranges::count(mask.blocked, true));
  }
  if (answer.kind == AnswerKind::shape)
    return fmt::format("asks for a shape; key: {} {}", one_line(answer.is),
                       key.too_large ? too_large : "= " + key.key.shown);
  if (answer.kind == AnswerKind::head) {
    return fmt::format("asks for a head; key: {} {}", one_line(answer.is),
                       key.too_large ? too_large : fmt::format("= {}", *key.key.head));
  }
  if (answer.kind == AnswerKind::cell) {
    const auto part = [&](const char* name, const std::string& written, const std::optional<Index>& index) {
      if (written.empty()) return std::string();
      return fmt::format(", {} {}{}", name, one_line(written),
                         index && written != std::to_string(*index) ? fmt::format(" = {}", *index) : "");
    };
    return fmt::format("asks for a cell of {}; key{}{}{}", tensor_entry(*answer.tensor).name,
                       part("row", answer.row, key.key.row), part("column", answer.column, key.key.column),
                       key.too_large ? fmt::format(", {}", too_large) : "");
  }
  if (!answer.chooses()) {
    const std::string value = key.too_large ? too_large : "= " + key.key.shown;
    const double share = 100.0 * answer.within_share;
    const std::string near =
        answer.within > 0.0 ? fmt::format("{:g}", answer.within) : fmt::format("{:g} %", share);
    return fmt::format("asks for a number; key: {} {}, ± {}", one_line(answer.is), value, near);
  }
  const std::string count =
      fmt::format("{}{}", answer.options.size(), answer.kind == AnswerKind::tensor ? " tensors" : "");
  if (key.too_large) return fmt::format("asks for one of {}; key: {}", count, too_large);
  const std::size_t right = *key.key.option;
  return fmt::format("asks for one of {}; key: {}, {}, because {}", count, right + 1,
                     one_line(key.options[right]), one_line(answer.options[right].is));
}

// [[row, column], …]
Json blocked_pairs(const MaskKey& mask) {
  Json pairs = Json::array();
  for (Index row = 0; row < mask.rows; ++row)
    for (Index column = 0; column < mask.columns; ++column)
      if (mask.blocked[static_cast<std::size_t>(row * mask.columns + column)])
        pairs.push_back(Json::array({mask.row + row, mask.column + column}));
  return pairs;
}

Json key_json(const PageKey& key, const PageAnswer& answer) {
  Json json{{"kind", answer_kind_words[static_cast<std::size_t>(answer.kind)]}};
  if (answer.kind == AnswerKind::shape || answer.kind == AnswerKind::head) {
    json["is"] = answer.is;
    if (key.key.head) json["key"] = *key.key.head;
    if (!key.key.sizes.empty()) json["key"] = key.key.sizes;
  } else if (answer.kind == AnswerKind::cell) {
    json["tensor"] = tensor_entry(*answer.tensor).name;
    Json cell = Json::object();
    if (key.key.row) cell["row"] = *key.key.row;
    if (key.key.column) cell["column"] = *key.key.column;
    if (!key.too_large) json["key"] = cell;
  } else if (answer.kind == AnswerKind::weights) {
    json["is"] = answer.is;
    if (key.key.weights) json["key"] = key.key.weights->weights;
  } else if (answer.kind == AnswerKind::mask) {
    json["is"] = answer.is;
    if (key.key.mask) json["key"] = blocked_pairs(*key.key.mask);
  } else if (answer.chooses()) {
    json["options"] = key.options;
    if (!key.too_large) json["key"] = *key.key.option + 1;
  } else {
    json["is"] = answer.is;
    if (!key.too_large) json["key"] = *key.key.number;
  }
  return json;
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
         fmt::format(" (differs from {} in {} {})", nearest, least, least == 1 ? "setting" : "settings");
}

}  // namespace

Report playlist_info(const std::string& name, const Playlist& playlist) {
  const std::vector<PlaylistPage>& pages = playlist.pages;
  const std::size_t digits = std::to_string(pages.size()).size();
  Report report;
  report.add_line("{}: playlist, {} {}{}\n",
                  {text_cell("file", name),
                   {"format", "headwise_playlist"},
                   std::to_string(pages.size()),
                   pages.size() == 1 ? "page" : "pages",
                   {"title", playlist.title, playlist.title.empty() ? "" : ": " + one_line(playlist.title)}});
  Json& list = report.json["pages"] = Json::array();
  std::vector<TextRow> rows;
  std::vector<std::string> asked(pages.size());
  const std::vector<PageKey> keys = checked_keys(playlist, name, true);
  auto next = keys.begin();
  std::string scenario;
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
    if (page.pin) json["pin"] = {{"tensor", to_string(page.pin->tensor)}, {"index", page.pin->index}};
    if (next == keys.end() || next->page != i) continue;
    json["answer"] = key_json(*next, *page.answer);
    asked[i] = fmt::format("  {:>{}}  {}\n", "", digits, key_words(*next++, *page.answer));
  }
  const std::vector<std::string> lines = aligned(rows);
  for (std::size_t i = 0; i < pages.size(); ++i) report.text += "  " + lines[i] + "\n" + asked[i];
  return report;
}

}  // namespace headwise
