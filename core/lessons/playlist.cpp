#include "core/lessons/playlist.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/files/atomic_file.h"
#include "core/files/json_text.h"
#include "core/lessons/answer_key.h"
#include "core/lessons/live_text.h"
#include "core/lessons/page_fields.h"
#include "core/scenario/json_document.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;
constexpr Index largest_index = Index{1} << 53;  // beyond it, numbers are not exact
constexpr std::size_t most_index_entries = 8;
constexpr std::size_t most_scenario_bytes = std::size_t{256} << 20;

// Returns the memory of a scenario, including what it owns.
std::size_t bytes_of(const Scenario& scenario) {
  std::size_t bytes = sizeof scenario + scenario.inputs.text.size() + scenario.edits.size() * sizeof(CellEdit);
  if (scenario.inputs.key_text) bytes += scenario.inputs.key_text->size();
  if (scenario.head_gain) bytes += scenario.head_gain->size() * sizeof(double);
  if (scenario.frozen_heads && scenario.frozen_heads->attn_weights)
    bytes += scenario.frozen_heads->attn_weights->bytes();
  if (scenario.mask.valid_lens) {
    for (const auto& lens : *scenario.mask.valid_lens)
      bytes += sizeof lens + lens.size() * sizeof(std::int64_t);
  }
  return bytes;
}

// { "tensor": NAME, "index": [i, …] }
CellRef cell_of(const JsonValue& value) {
  const char* const keys = "tensor and index";
  value.object(fmt::format("an object with {}", keys)).only({"tensor", "index"});
  CellRef cell{tensor_of(value.needed("tensor", keys)), {}};
  const JsonValue index = value.needed("index", keys);
  if (!index.json().is_array() || index.json().empty() || index.json().size() > most_index_entries)
    index.refuse("wrong type", "a list of integers, one for each axis");
  index.each([&](const JsonValue& entry) { cell.index.push_back(entry.integer(0, largest_index)); });
  return cell;
}

// A key of the page that one view alone uses.
void only_in(StageView view, StageView shown, const JsonValue& value) {
  const std::string_view word = stage_view_words[static_cast<std::size_t>(view)];
  if (shown != view)
    value.refuse(fmt::format("only the view {} uses this key", word), "",
                 fmt::format("write \"view\": \"{}\"", word));
}

// { "share": 0.5, "per": "key" }
TokenLines lines_of(const JsonValue& value, StageView view) {
  value.object("an object with share, per or both").only({"share", "per"});
  only_in(StageView::tokens, view, value);
  TokenLines lines;
  if (const JsonValue share = value["share"]; value.contains("share")) {
    const auto found = std::ranges::find(TokenLines::shares, share.number());
    if (found == TokenLines::shares.end()) share.refuse("there is no such choice", "0.5, 0.8, 0.95 or 1");
    lines.share = static_cast<int>(found - TokenLines::shares.begin());
  }
  if (value.contains("per"))
    lines.per_key = value["per"].choice({TokenLines::way_words.begin(), TokenLines::way_words.end()}) == 1;
  return lines;
}

class PlaylistReader {
 public:
  PlaylistReader(std::string where, std::string folder, PlaylistText text)
      : where_(std::move(where)), folder_(std::move(folder)), text_(text) {
    for (const StepEntry& entry : step_entries()) steps_.push_back(step_word(entry.step));
    for (int i = 0; i < compare_with_count; ++i)
      comparisons_.emplace_back(compare_word(static_cast<CompareWith>(i)));
  }

  Playlist read(const Json& json) {
    const JsonValue root(json, where_, scenario_format);
    if (!root.contains("headwise_playlist"))
      root.refuse("this is not a playlist", "{\"headwise_playlist\": 1, \"pages\": [ … ]}");
    check_version(root["headwise_playlist"]);
    root.only({"headwise_playlist", "title", "pages"});
    Playlist playlist;
    root.read_key("title", playlist.title);
    const JsonValue pages = root["pages"];
    const std::string expected = fmt::format("a list of 1 to {} pages", Playlist::most_pages);
    if (!root.contains("pages")) pages.refuse_got("the pages are missing", "", expected);
    if (!pages.json().is_array() || pages.json().empty() || pages.json().size() > Playlist::most_pages)
      pages.refuse("wrong pages", expected);
    PlaylistPage before;
    before.scenario = std::make_shared<const Scenario>(preset_scenario("hand_made"));
    for (const Json& page : pages.json()) {
      const std::string place = fmt::format("{}: page {}", where_, playlist.pages.size() + 1);
      playlist.pages.push_back(read_page(JsonValue(page, place, scenario_format), before));
      before = playlist.pages.back();
    }
    return playlist;
  }

 private:
  static void check_version(const JsonValue& version) {
    if (!version.json().is_number()) version.refuse("wrong type", "the format's version, 1");
    if (version.number() == 1.0) return;
    const bool newer = version.number() > 1.0;
    version.refuse_got(
        newer ? "this playlist was written for a newer Headwise" : "unknown version of the format",
        "version " + describe(version.json()), "version 1");
  }

  PlaylistPage read_page(const JsonValue& json, const PlaylistPage& before) {
    json.object().only(
        {"scenario", "set",   "step",          "view",     "batch",     "head",     "beside",
         "lines",    "loss",  "tensor",        "pin",      "spotlight", "masks_as", "queries_as_columns",
         "title",    "ask",   "ask_step",      "ask_view", "veil",      "answer",   "caption",
         "keywords", "notes", "colors_by_head"});
    PlaylistPage page;
    page.scenario = before.scenario;
    page.step = before.step;
    page.view = before.view;
    if (json.contains("scenario")) {
      page.scenario = scenario_of(json["scenario"]);
    } else {
      page.batch = before.batch;
      page.head = before.head;
    }
    if (json.contains("set")) page.scenario = with_settings(*page.scenario, json["set"]);
    json.read_key("step", page.step, steps_);
    json.read_key("view", page.view, stage_view_words);
    if (json.contains("batch")) page.batch = json["batch"].integer(0, largest_index);
    if (json.contains("head")) page.head = json["head"].integer(0, largest_index);
    if (const JsonValue beside = json["beside"]; json.contains("beside")) {
      // All except `pinned`.
      page.beside = static_cast<CompareWith>(1 + beside.choice({comparisons_.begin() + 1, comparisons_.end()}));
      only_in(StageView::compare, page.view, beside);
    }
    if (json.contains("lines")) page.lines = lines_of(json["lines"], page.view);
    if (const JsonValue loss = json["loss"]; json.contains("loss")) {
      loss.read(page.loss.emplace(), loss_words);
      only_in(StageView::gradients, page.view, loss);
    }
    if (const JsonValue tensor = json["tensor"]; json.contains("tensor")) {
      const TensorName name = tensor_of(tensor);
      if (name.gradient)
        tensor.refuse("gradients are shown only in the view gradients", "the name of its tensor",
                      "write \"view\": \"gradients\"");
      page.tensor = name.id;
    }
    // What a key needs beside it.
    const auto needs = [&](const char* key, bool there, const char* what, const char* expected,
                           const char* remedy = "") {
      if (!there) json[key].refuse_got(what, "", expected, remedy);
    };
    const auto needs_question = [&](const char* key) {
      needs(key, !page.ask.empty(), "the page has no question", "the key \"ask\"");
    };
    if (json.contains("pin")) page.pin = cell_of(json["pin"]);
    json.read_key("spotlight", page.spotlight);
    needs("spotlight", !page.spotlight || page.pin, "a spotlight needs a pinned cell", "the key \"pin\"");
    if (json.contains("masks_as")) json["masks_as"].read(page.masks_as.emplace(), mask_convention_words);
    json.read_key("queries_as_columns", page.queries_as_columns);
    json.read_key("colors_by_head", page.colors_by_head);
    json.read_key("title", page.title);
    json.read_key("ask", page.ask);
    json.read_key("caption", page.caption);
    needs("ask", page.ask.empty() || json.contains("caption"), "the question has no answer",
          "the key \"caption\"");
    if (json.contains("ask_step")) json["ask_step"].read(page.ask_step.emplace(), steps_);
    if (json.contains("ask_view")) json["ask_view"].read(page.ask_view.emplace(), stage_view_words);
    if (page.ask_step || page.ask_view) needs_question(page.ask_step ? "ask_step" : "ask_view");
    json.read_key("veil", page.veil);
    if (page.veil) needs_question("veil");
    needs("veil", !page.veil || !(page.ask_step || page.ask_view),
          "the page asks elsewhere, where nothing needs to be hidden", "",
          "leave out ask_step and ask_view, or veil");
    if (json.contains("answer")) {
      page.answer = answer_of(json["answer"], text_ == PlaylistText::draft);
      needs_question("answer");
      const std::string why = answer_page_problem(page);
      needs("answer", why.empty() || text_ == PlaylistText::draft, why.c_str(),
            page.veil ? "such a step" : "\"veil\": true");
    }
    json.read_key("keywords", page.keywords);
    json.read_key("notes", page.notes);
    return page;
  }

  ScenarioPtr scenario_of(const JsonValue& value) {
    if (value.json().is_object()) {
      Scenario scenario = scenario_from_json(json_text(value.json()), value.place());
      scenario.origin.folder = folder_;
      return kept(std::move(scenario), value);
    }
    const std::string name = value.text("the name of a preset, a path, or an object");
    ScenarioPtr& known = named_[name];
    if (!known) known = kept(named_scenario(name, value), value);
    return known;
  }

  Scenario named_scenario(const std::string& name, const JsonValue& value) const {
    // A preset's name has neither a folder nor an extension.
    if (name.find('/') == std::string::npos && !name.ends_with(".json")) {
      std::vector<std::string> names;
      for (const Preset& preset : presets()) names.emplace_back(preset.name);
      if (std::ranges::find(names, name) == names.end())
        value.refuse("there is no preset of this name", "a preset, or a path that ends in .json",
                     did_you_mean(name, names));
      return preset_scenario(name);
    }
    return told_at(value, [&] { return read_scenario_file((fs::path(folder_) / name).string()); });
  }

  ScenarioPtr with_settings(const Scenario& scenario, const JsonValue& settings) {
    Scenario changed = scenario;
    settings.list("a list of \"PATH=VALUE\"").each([&](const JsonValue& setting) {
      const std::string text = setting.text();
      changed = told_at(setting, [&] { return with_setting(changed, text); });
    });
    return kept(std::move(changed), settings);
  }

  // What `make` returns; its errors are told with the place of the value.
  template <class Make>
  static Scenario told_at(const JsonValue& value, Make make) {
    try {
      return make();
    } catch (const Error& error) {
      value.refuse_got(error.what(), "");
    }
  }

  ScenarioPtr kept(Scenario scenario, const JsonValue& value) {
    bytes_ += bytes_of(scenario);
    if (bytes_ > most_scenario_bytes)
      value.refuse_got("the scenarios of this playlist are too large", "more than 256 MiB");
    return std::make_shared<const Scenario>(std::move(scenario));
  }

  std::string where_, folder_;
  PlaylistText text_;
  std::vector<std::string> steps_, comparisons_;
  std::map<std::string, ScenarioPtr> named_;
  std::size_t bytes_ = 0;
};

}  // namespace

Playlist playlist_from_json(std::string_view json, const std::string& where, const std::string& folder,
                            PlaylistText text) {
  return PlaylistReader(where, folder, text).read(parse_json(json, where, scenario_format));
}

bool is_playlist(std::string_view json) {
  const auto names = [json](std::string_view key) { return json.find(key) != std::string_view::npos; };
  if (!names("\"headwise_playlist\"") && !names("\"pages\""))
    return false;  // avoids parsing a large scenario
  try {
    const Json root = parse_json(json, "", scenario_format);
    return root.is_object() && (root.contains("headwise_playlist") || root.contains("pages"));
  } catch (const Error&) {
    return false;
  }
}

namespace {

std::string cell_problem(const CellRef& cell, const Trace& trace) {
  const TensorPtr tensor = trace.tensor(cell.tensor.id);  // a gradient has the sizes of its tensor
  const std::string name = to_string(cell.tensor);
  if (!tensor) return fmt::format("this scenario has no tensor {}", name);
  const Shape& shape = tensor->shape();
  const bool same_rank = static_cast<Index>(cell.index.size()) == shape.rank();
  for (std::size_t axis = 0; same_rank && axis < cell.index.size(); ++axis) {
    if (cell.index[axis] >= shape.size(static_cast<Index>(axis)))
      return fmt::format("{}[{}] lies outside {} {}", name, join(cell.index, ","), name, shape.to_string());
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
  if (page.pin)
    if (std::string problem = cell_problem(*page.pin, trace); !problem.empty()) return problem;
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
