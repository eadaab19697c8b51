#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/answers/live_text.h"
#include "core/files/atomic_file.h"
#include "core/files/json_text.h"
#include "core/playlist/answer_key.h"
#include "core/playlist/page_fields.h"
#include "core/playlist/playlist.h"
#include "core/scenario/json_document.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

std::string cell_problem(const CellRef& cell, const Trace& trace) {
  const TensorPtr tensor = trace.tensor(cell.tensor.id);  // a gradient has the sizes of its tensor
  const std::string name = to_string(cell.tensor);
  if (!tensor) return fmt::format("this scenario has no tensor {}", name);
  const Shape& shape = tensor->shape();
  const bool same_rank = static_cast<Index>(cell.index.size()) == shape.rank();
  for (std::size_t axis = 0; same_rank && axis < cell.index.size(); ++axis) {
    if (cell.index[axis] >= shape.size(static_cast<Index>(axis))) {
      return fmt::format("{}[{}] lies outside {} {}", name, join(cell.index, ","), name, shape.to_string());
    }
  }
  if (!same_rank) {
    return fmt::format("an index of {} numbers for {} {}, which has {} axes", cell.index.size(), name,
                       shape.to_string(), shape.rank());
  }
  return "";
}

}  // namespace

bool operator==(const PlaylistPage& a, const PlaylistPage& b) {
  return *a.scenario == *b.scenario && a.step == b.step && a.view == b.view && a.batch == b.batch &&
         a.head == b.head && a.beside == b.beside && a.lines == b.lines && a.loss == b.loss &&
         a.tensor == b.tensor && a.pin == b.pin && a.spotlight == b.spotlight && a.masks_as == b.masks_as &&
         a.queries_as_columns == b.queries_as_columns && a.colors_by_head == b.colors_by_head &&
         a.title == b.title && a.ask == b.ask && a.caption == b.caption && a.ask_step == b.ask_step &&
         a.ask_view == b.ask_view && a.answer == b.answer && a.veil == b.veil && a.keywords == b.keywords &&
         a.notes == b.notes;
}

bool is_scenario_of(const PlaylistPage& page, const Scenario& scenario) {
  if (*page.scenario == scenario) return true;
  Scenario own = *page.scenario;
  if (scenario.origin.layer) copy_layer_keys(*scenario.origin.layer, own, own_keys_of(own));
  return scenario == own;
}

std::string step_word(Step step) {
  std::string word(step_entries()[static_cast<std::size_t>(step)].name);
  std::ranges::transform(word, word.begin(), [](char c) {
    if (c == ' ') return '_';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return word;
}

std::string_view compare_word(CompareWith beside) {
  constexpr std::array<std::string_view, compare_with_count> words{
      "pinned", "one_wide_head", "packed", "separate", "per_head", "scale", "mask"};
  return words[static_cast<std::size_t>(beside)];
}

std::string page_problem(const PlaylistPage& page, const Trace& trace) {
  const Index heads = trace.options.num_heads;
  if (page.head >= heads)
    return fmt::format("there is no head {}: {} heads, counted from 0", page.head, heads);
  const Index batches = trace.tensors.q_heads ? trace.tensors.q_heads->shape().size(0) : 1;
  if (page.batch >= batches)
    return fmt::format("there is no batch {}: {} in all, counted from 0", page.batch, batches);
  if (page.tensor && !trace.tensor(*page.tensor))
    return fmt::format("this scenario has no tensor {}", tensor_entry(*page.tensor).name);
  if (page.pin) {
    if (std::string problem = cell_problem(*page.pin, trace); !problem.empty()) return problem;
  }
  try {
    check_live_text(page.ask);
    check_live_text(page.caption);
    check_live_text(page.notes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

namespace {

using OrderedJson = nlohmann::ordered_json;

// Writes only what differs from the reader's defaults.
OrderedJson page_json(const PlaylistPage& page, const PlaylistPage* before, const std::string& folder,
                      PlaylistText text) {
  const PlaylistPage first;
  OrderedJson json = OrderedJson::object();
  const bool same = before && (before->scenario == page.scenario || *before->scenario == *page.scenario);
  if (!same)
    json["scenario"] = ordered_json_of(scenario_to_json(with_files_relative_to(*page.scenario, folder)));
  const PlaylistPage& at = before ? *before : first;
  json["step"] = step_word(page.step);
  if (page.view != at.view) json["view"] = stage_view_words[static_cast<std::size_t>(page.view)];
  if (page.batch != (same ? at.batch : 0)) json["batch"] = page.batch;
  if (page.head != (same ? at.head : 0)) json["head"] = page.head;
  if (page.beside) json["beside"] = compare_word(*page.beside);
  if (page.tensor) json["tensor"] = tensor_entry(*page.tensor).name;
  if (page.pin) json["pin"] = {{"tensor", to_string(page.pin->tensor)}, {"index", page.pin->index}};
  if (page.spotlight) json["spotlight"] = true;
  const auto word = [](const auto& words, auto choice) { return words[static_cast<std::size_t>(choice)]; };
  if (page.lines.share)
    json["lines"]["share"] = TokenLines::shares[static_cast<std::size_t>(*page.lines.share)];
  if (page.lines.per_key) json["lines"]["per"] = TokenLines::way_words[1];
  if (page.loss) json["loss"] = word(loss_words, *page.loss);
  if (page.masks_as) json["masks_as"] = word(mask_convention_words, *page.masks_as);
  if (page.queries_as_columns) json["queries_as_columns"] = true;
  if (page.colors_by_head) json["colors_by_head"] = true;
  if (!page.title.empty()) json["title"] = page.title;
  if (!page.ask.empty()) json["ask"] = page.ask;
  // A page without a question has no other step or view to ask at.
  if (page.asks_elsewhere() && page.ask_step) json["ask_step"] = step_word(*page.ask_step);
  if (page.asks_elsewhere() && page.ask_view) json["ask_view"] = word(stage_view_words, *page.ask_view);
  if (!page.ask.empty() && page.veil) json["veil"] = true;
  // What is still being written could be read again only from a draft.
  if (!page.ask.empty() && page.answer && (text == PlaylistText::draft || written_problem(*page.answer).empty()))
    json["answer"] = answer_json(*page.answer);
  if (!page.caption.empty() || !page.ask.empty()) json["caption"] = page.caption;
  if (!page.keywords.empty()) json["keywords"] = page.keywords;
  if (!page.notes.empty()) json["notes"] = page.notes;
  return json;
}

std::string folder_of_file(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace

std::string playlist_to_json(const Playlist& playlist, const std::string& folder, PlaylistText text) {
  OrderedJson pages = OrderedJson::array();
  for (std::size_t i = 0; i < playlist.pages.size(); ++i)
    pages.push_back(page_json(playlist.pages[i], i > 0 ? &playlist.pages[i - 1] : nullptr, folder, text));
  OrderedJson json{{"headwise_playlist", 1}};
  if (!playlist.title.empty()) json["title"] = playlist.title;
  json["pages"] = std::move(pages);
  return json_text(json, {.indent = 2, .replaces_bytes = true}) + "\n";
}

bool is_playlist_file(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return false;
  // An array file may be large, so it is not read as text.
  const int first = std::ifstream(path, std::ios::binary).peek();
  if (first != '{' && first != 0xEF && first != ' ' && first != '\n' && first != '\t' && first != '\r')
    return false;
  try {
    return is_playlist(read_json_text(path, "playlist"));
  } catch (const Error&) {
    return false;
  }
}

Playlist read_playlist_file(const std::string& path, PlaylistText text) {
  return playlist_from_json(read_json_text(path, "playlist"), path, folder_of_file(path), text);
}

void write_playlist_file(const Playlist& playlist, const std::string& path, PlaylistText text) {
  write_file_atomically(path, playlist_to_json(playlist, folder_of_file(path), text));
}

}  // namespace headwise
