#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>

#include "core/files/json_text.h"
#include "core/playlist/page_fields.h"
#include "core/playlist/playlist.h"
#include "core/scenario/json_document.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;
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

class Reader {
 public:
  Reader(std::string where, std::string folder, PlaylistText text)
      : where_(std::move(where)), folder_(std::move(folder)), text_(text) {
    for (const StepEntry& entry : step_entries()) steps_.push_back(step_word(entry.step));
  }

  Playlist read(const Json& root) {
    if (!root.is_object() || !root.contains("headwise_playlist"))
      wrong_value(where_, "this is not a playlist", describe(root),
                  "{\"headwise_playlist\": 1, \"pages\": [ … ]}");
    check_version(root["headwise_playlist"]);
    check_keys(root, where_, {"headwise_playlist", "title", "pages"});
    Playlist playlist;
    if (root.contains("title")) playlist.title = text_of(root["title"], where_ + ": title");
    const auto pages = root.find("pages");
    if (pages == root.end() || !pages->is_array() || pages->empty() || pages->size() > Playlist::most_pages) {
      wrong_value(where_ + ": pages", pages == root.end() ? "the pages are missing" : "wrong pages",
                  pages == root.end() ? "" : describe(*pages),
                  fmt::format("a list of 1 to {} pages", Playlist::most_pages));
    }
    PlaylistPage before;
    before.scenario = std::make_shared<const Scenario>(preset_scenario("hand_made"));
    for (const Json& page : *pages) {
      playlist.pages.push_back(
          read_page(page, before, fmt::format("{}: page {}", where_, playlist.pages.size() + 1)));
      before = playlist.pages.back();
    }
    return playlist;
  }

 private:
  void check_version(const Json& version) const {
    const std::string place = where_ + ": headwise_playlist";
    if (!version.is_number()) wrong_value(place, "wrong type", describe(version), "the format's version, 1");
    if (version.get<double>() == 1.0) return;
    const bool newer = version.get<double>() > 1.0;
    wrong_value(place,
                newer ? "this playlist was written for a newer Headwise" : "unknown version of the format",
                "version " + describe(version), "version 1");
  }

  PlaylistPage read_page(const Json& json, const PlaylistPage& before, const std::string& where) {
    if (!json.is_object()) wrong_value(where, "wrong type", describe(json), "an object");
    check_keys(json, where, {"scenario", "set",  "step",      "view",     "batch",    "head", "beside",
                             "tensor",   "pin",  "spotlight", "masks_as", "title",    "ask",  "ask_step",
                             "ask_view", "veil", "answer",    "caption",  "keywords", "notes"});
    PlaylistPage page;
    page.scenario = before.scenario;
    page.step = before.step;
    page.view = before.view;
    if (json.contains("scenario")) {
      page.scenario = scenario_of(json["scenario"], where + ": scenario");
    } else {
      page.batch = before.batch;
      page.head = before.head;
    }
    if (json.contains("set")) page.scenario = with_settings(*page.scenario, json["set"], where + ": set");
    const auto find = [&](const char* key) -> const Json* {
      const auto found = json.find(key);
      return found == json.end() ? nullptr : &*found;
    };
    const auto at = [&](const char* key) { return fmt::format("{}: {}", where, key); };
    if (const Json* value = find("step"))
      page.step = static_cast<Step>(choice_of(*value, at("step"), steps_));
    if (const Json* value = find("view"))
      page.view = static_cast<StageView>(choice_of(*value, at("view"), names_of(stage_view_words)));
    if (const Json* value = find("batch")) page.batch = index_of(*value, at("batch"));
    if (const Json* value = find("head")) page.head = index_of(*value, at("head"));
    if (const Json* value = find("beside")) {
      Names words;
      for (int i = 1; i < compare_with_count; ++i)  // all except `pinned`
        words.emplace_back(compare_word(static_cast<CompareWith>(i)));
      page.beside = static_cast<CompareWith>(1 + choice_of(*value, at("beside"), words));
      if (page.view != StageView::compare) {
        wrong_value(at("beside"), "only the view compare uses this key", describe(*value), "",
                    "write \"view\": \"compare\"");
      }
    }
    if (const Json* value = find("tensor")) {
      const TensorName name = tensor_of(*value, at("tensor"));
      if (name.gradient) {
        wrong_value(at("tensor"), "gradients are shown only in the view gradients", describe(*value),
                    "the name of its tensor", "write \"view\": \"gradients\"");
      }
      page.tensor = name.id;
    }
    if (const Json* value = find("pin")) page.pin = cell_of(*value, at("pin"));
    if (const Json* value = find("spotlight")) {
      if (!value->is_boolean()) wrong_value(at("spotlight"), "wrong type", describe(*value), "true or false");
      page.spotlight = value->get<bool>();
      if (page.spotlight && !page.pin)
        wrong_value(at("spotlight"), "a spotlight needs a pinned cell", "", "the key \"pin\"");
    }
    if (const Json* value = find("masks_as")) {
      page.masks_as =
          static_cast<MaskConvention>(choice_of(*value, at("masks_as"), names_of(mask_convention_words)));
    }
    if (const Json* value = find("title")) page.title = text_of(*value, at("title"));
    if (const Json* value = find("ask")) page.ask = text_of(*value, at("ask"));
    if (const Json* value = find("caption")) page.caption = text_of(*value, at("caption"));
    if (!page.ask.empty() && !find("caption"))
      wrong_value(at("ask"), "the question has no answer", "", "the key \"caption\"");
    if (const Json* value = find("ask_step"))
      page.ask_step = static_cast<Step>(choice_of(*value, at("ask_step"), steps_));
    if (const Json* value = find("ask_view"))
      page.ask_view = static_cast<StageView>(choice_of(*value, at("ask_view"), names_of(stage_view_words)));
    if ((page.ask_step || page.ask_view) && page.ask.empty())
      wrong_value(at(page.ask_step ? "ask_step" : "ask_view"), "the page has no question", "",
                  "the key \"ask\"");
    if (const Json* value = find("veil")) {
      if (!value->is_boolean()) wrong_value(at("veil"), "wrong type", describe(*value), "true or false");
      page.veil = value->get<bool>();
      if (page.veil && page.ask.empty())
        wrong_value(at("veil"), "the page has no question", "", "the key \"ask\"");
      if (page.veil && (page.ask_step || page.ask_view)) {
        wrong_value(at("veil"), "the page asks elsewhere, where nothing needs to be hidden", "", "",
                    "leave out ask_step and ask_view, or veil");
      }
    }
    if (const Json* value = find("answer")) {
      page.answer = answer_of(*value, at("answer"), text_ == PlaylistText::draft);
      if (page.ask.empty()) wrong_value(at("answer"), "the page has no question", "", "the key \"ask\"");
      if (const std::string why = answer_page_problem(page); !why.empty() && text_ == PlaylistText::whole)
        wrong_value(at("answer"), why, "", page.veil ? "such a step" : "\"veil\": true");
    }
    if (const Json* value = find("keywords")) page.keywords = text_of(*value, at("keywords"));
    if (const Json* value = find("notes")) page.notes = text_of(*value, at("notes"));
    return page;
  }

  ScenarioPtr scenario_of(const Json& value, const std::string& where) {
    if (value.is_object()) {
      Scenario scenario = scenario_from_json(json_text(value), where);
      scenario.origin.folder = folder_;
      return kept(std::move(scenario), where);
    }
    if (!value.is_string())
      wrong_value(where, "wrong type", describe(value), "the name of a preset, a path, or an object");
    const std::string& name = value.get_ref<const std::string&>();
    ScenarioPtr& known = named_[name];
    if (!known) known = kept(named_scenario(name, where), where);
    return known;
  }

  Scenario named_scenario(const std::string& name, const std::string& where) const {
    // A preset's name has neither a folder nor an extension.
    if (name.find('/') == std::string::npos && !name.ends_with(".json")) {
      Names names;
      for (const Preset& preset : presets()) names.emplace_back(preset.name);
      if (std::ranges::find(names, name) == names.end()) {
        wrong_value(where, "there is no preset of this name", describe(Json(name)),
                    "a preset, or a path that ends in .json", did_you_mean(name, names));
      }
      return preset_scenario(name);
    }
    try {
      return read_scenario_file((fs::path(folder_) / name).string());
    } catch (const Error& error) {
      throw Error(ExitStatus::usage, {.where = where, .what = error.what()});
    }
  }

  ScenarioPtr with_settings(const Scenario& scenario, const Json& settings, const std::string& where) {
    if (!settings.is_array())
      wrong_value(where, "wrong type", describe(settings), "a list of \"PATH=VALUE\"");
    Scenario changed = scenario;
    for (const Json& setting : settings) {
      try {
        changed = with_setting(changed, text_of(setting, where));
      } catch (const Error& error) {
        throw Error(ExitStatus::usage, {.where = where, .what = error.what()});
      }
    }
    return kept(std::move(changed), where);
  }

  ScenarioPtr kept(Scenario scenario, const std::string& where) {
    bytes_ += bytes_of(scenario);
    if (bytes_ > most_scenario_bytes)
      wrong_value(where, "the scenarios of this playlist are too large", "more than 256 MiB", "");
    return std::make_shared<const Scenario>(std::move(scenario));
  }

  std::string where_, folder_;
  PlaylistText text_;
  Names steps_;
  std::map<std::string, ScenarioPtr> named_;
  std::size_t bytes_ = 0;
};

}  // namespace

Playlist playlist_from_json(std::string_view json, const std::string& where, const std::string& folder,
                            PlaylistText text) {
  return Reader(where, folder, text).read(parse_json(json, where));
}

bool is_playlist(std::string_view json) {
  if (json.find("\"headwise_playlist\"") == std::string_view::npos)
    return false;  // avoids parsing a large scenario
  try {
    const Json root = parse_json(json, "");
    return root.is_object() && root.contains("headwise_playlist");
  } catch (const Error&) {
    return false;
  }
}

}  // namespace headwise
