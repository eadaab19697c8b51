// JSON → Scenario: a visitor of the schema that reads each key that is present and collects the allowed ones.
// scenario_values defines the allowed values.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/scenario/json_document.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/scenario/scenario_values.h"
#include "core/tensor/edit_distance.h"

namespace headwise {
namespace {

// Section → its keys, "" being the top level.
using KnownKeys = std::map<std::string, std::vector<std::string>>;

KnownKeys known_keys() {
  KnownKeys known;
  const Scenario scenario;
  for_each_key(scenario,
               [&](const char* section, const char* key, const auto&) { known[section].emplace_back(key); });
  std::vector<std::string>& top = known[""];
  for (const auto& [section, keys] : known) {
    if (!section.empty()) top.push_back(section);
  }
  top.push_back("headwise");
  return known;
}

void refuse_unknown_key(const std::string& where, const std::string& section, const std::string& key,
                        const KnownKeys& known) {
  std::string nearest = nearest_name(key, known.at(section));
  if (!nearest.empty()) nearest = key_path(section, nearest);
  for (const auto& [other, keys] : known) {  // the right key in the wrong section
    for (const std::string& candidate : keys) {
      if (candidate == key) nearest = key_path(other, key);
    }
  }
  wrong_value(where, fmt::format("unknown key \"{}\"", key_path(section, key)), "", "",
              nearest.empty() ? "headwise list settings lists all keys"
                              : fmt::format("did you mean \"{}\"?", nearest));
}

void check_keys(const Json& root, const std::string& where, const KnownKeys& known) {
  for (const auto& [key, value] : root.items()) {
    if (std::ranges::find(known.at(""), key) == known.at("").end()) refuse_unknown_key(where, "", key, known);
    const auto section = known.find(key);
    if (section == known.end()) continue;
    if (!value.is_object()) wrong_value(where + ": " + key, "wrong type", describe(value), "an object");
    for (const auto& [inner, unused] : value.items()) {
      if (std::ranges::find(section->second, inner) == section->second.end()) {
        refuse_unknown_key(where, key, inner, known);
      }
    }
  }
}

void check_version(const Json& root, const std::string& where) {
  const auto version = root.find("headwise");
  if (version == root.end()) return;
  const std::string place = where + ": headwise";
  if (!version->is_number()) wrong_value(place, "wrong type", describe(*version), "the format version, 1");
  if (version->get<double>() == scenario_format_version) return;
  const bool newer = version->is_number_unsigned() && version->get<std::uint64_t>() > scenario_format_version;
  wrong_value(place, newer ? "this scenario was written by a newer Headwise" : "unknown format version",
              "version " + describe(*version), "version 1",
              newer ? "open it with that version, or save it there for this one" : "");
}

struct Reader {
  const Json& root;
  const std::string& where;
  std::set<std::string> written;
  std::string place;  // of the key found last

  // The key's value, or null if the file omits it.
  const Json* find(const std::string& section, const char* key) {
    const Json* parent = &root;
    if (!section.empty()) {
      const auto found = root.find(section);
      if (found == root.end()) return nullptr;
      parent = &*found;
    }
    const auto value = parent->find(key);
    if (value == parent->end()) return nullptr;
    written.insert(key_path(section, key));
    place = where + ": " + key_path(section, key);
    return &*value;
  }

  void field(const char* section, const char* key, bool& member) {
    if (const Json* value = find(section, key)) member = read_boolean(*value, place);
  }
  void field(const char* section, const char* key, std::string& member) {
    if (const Json* value = find(section, key)) member = read_string(*value, place);
  }
  void field(const char* section, const char* key, std::optional<std::string>& member) {
    if (const Json* value = find(section, key)) {
      if (value->is_null())
        member.reset();
      else
        member = read_string(*value, place);
    }
  }
  void field(const char* section, const char* key, std::uint64_t& member) {
    if (const Json* value = find(section, key)) member = read_seed(*value, place);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void field(const char* section, const char* key, Enum& member) {
    if (const Json* value = find(section, key)) member = read_choice<Enum>(*value, place);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void field(const char* section, const char* key, std::optional<Enum>& member) {
    if (const Json* value = find(section, key)) {
      if (value->is_null())
        member.reset();
      else
        member = read_choice<Enum>(*value, place);
    }
  }
  void field(const char* section, const char* key, std::int64_t& member, const IntegerRange& range) {
    if (const Json* value = find(section, key)) member = read_integer(*value, place, range);
  }
  void field(const char* section, const char* key, std::optional<std::int64_t>& member,
             const IntegerRange& range) {
    if (const Json* value = find(section, key)) {
      if (value->is_null())
        member.reset();
      else
        member = read_integer(*value, place, range);
    }
  }
  void field(const char* section, const char* key, double& member, const NumberRange& range) {
    if (const Json* value = find(section, key)) member = read_number(*value, place, range);
  }
  void field(const char* section, const char* key, std::optional<double>& member, const NumberRange& range) {
    if (const Json* value = find(section, key)) {
      if (value->is_null())
        member.reset();
      else
        member = read_number(*value, place, range);
    }
  }

  void mask_value(const char* section, const char* key, std::optional<double>& member) {
    const Json* value = find(section, key);
    if (value == nullptr) return;
    if (*value == "-inf")
      member.reset();
    else
      member = read_number(*value, place, {.words = "\"-inf\" or a finite number"});
  }

  // (N): a list of integers; (N,L): a list of N lists of L integers.
  void valid_lens(const char* section, const char* key, MaskSpec& mask) {
    const Json* value = find(section, key);
    if (value == nullptr) return;
    mask.valid_lens.reset();
    mask.valid_lens_per_query = false;
    if (value->is_null()) return;
    if (!value->is_array())
      wrong_value(place, "wrong type", describe(*value), "a list (N), or a list of lists (N,L), of integers");
    std::vector<std::vector<std::int64_t>> lens;
    const bool per_query = !value->empty() && value->front().is_array();
    for (const Json& entry : *value) {
      std::vector<std::int64_t>& row = lens.emplace_back();
      if (entry.is_array() != per_query) {
        wrong_value(place, "integers and lists mixed", describe(entry),
                    "either integers (N) or lists of integers (N,L)");
      }
      if (!per_query) {
        row.push_back(read_integer(entry, place, IntegerRange{0}));
        continue;
      }
      for (const Json& length : entry) row.push_back(read_integer(length, place, IntegerRange{0}));
      if (row.size() != lens.front().size()) {
        wrong_value(place, "lists of different lengths",
                    fmt::format("{} and {}", lens.front().size(), row.size()), "L integers in each list");
      }
    }
    mask.valid_lens = std::move(lens);
    mask.valid_lens_per_query = per_query;
  }

  void numbers(const char* section, const char* key, std::optional<std::vector<double>>& member,
               const char* each) {
    const Json* value = find(section, key);
    if (value == nullptr) return;
    member.reset();
    if (value->is_null()) return;
    if (!value->is_array())
      wrong_value(place, "wrong type", describe(*value), std::string("a list of numbers, ") + each);
    member.emplace();
    for (const Json& entry : *value) member->push_back(read_number(entry, place, {}));
  }

  void frozen(const char* section, const char* key, std::optional<FrozenHeads>& member) {
    const Json* value = find(section, key);
    if (value == nullptr) return;
    member.reset();
    if (!value->is_null()) member = read_frozen_heads(*value, place);
  }

  void edits(const char* section, const char* key, std::vector<CellEdit>& member) {
    const Json* value = find(section, key);
    if (value == nullptr) return;
    if (!value->is_array()) wrong_value(place, "wrong type", describe(*value), "a list of edits");
    member.clear();
    for (const Json& entry : *value)
      member.push_back(read_edit(entry, fmt::format("{}[{}]", place, member.size())));
  }
};

}  // namespace

Scenario scenario_from_json(std::string_view json, const std::string& where) {
  const Json root = parse_json(json, where);
  if (!root.is_object())
    wrong_value(where, "a scenario is a JSON object", describe(root), "{\"headwise\": 1, …}");
  if (root.contains("headwise_playlist"))
    wrong_value(where, "this is a playlist", "", "a scenario",
                "headwise render makes pictures of its pages, headwise info describes it");
  check_version(root, where);
  static const KnownKeys known = known_keys();
  check_keys(root, where, known);
  Scenario scenario;
  Reader reader{.root = root, .where = where, .written = {}, .place = {}};
  visit_scenario(scenario, reader);
  scenario.origin.written = std::move(reader.written);
  return scenario;
}

}  // namespace headwise
