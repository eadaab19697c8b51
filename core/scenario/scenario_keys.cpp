#include "core/scenario/scenario_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/files/json_text.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/join.h"

namespace headwise {

namespace embedded {
std::span<const unsigned char> words_scenario_keys();
}  // namespace embedded

namespace {

// The keys with types and ranges, by the schema.
struct KeyReader {
  std::vector<ScenarioKey> keys;

  void add(const std::string& section, const char* key, const std::string& type, const std::string& range) {
    const std::string path = section.empty() ? key : section + "." + key;
    const auto described = std::ranges::find(key_descriptions(), path, &WordRow::key);
    keys.push_back(
        {path, type, range, "", std::string(described == key_descriptions().end() ? "" : described->value)});
  }
  void add_optional(const std::string& section, const char* key, const std::string& type,
                    const std::string& range) {
    add(section, key, type + " or null", range);
  }

  void field(const char* section, const char* key, const bool&) {
    add(section, key, "boolean", "true or false");
  }
  void field(const char* section, const char* key, const std::string&) { add(section, key, "string", "any"); }
  void field(const char* section, const char* key, const std::optional<std::string>&) {
    add_optional(section, key, "string", "any");
  }
  void field(const char* section, const char* key, const std::uint64_t&) {
    add(section, key, "integer", "0 to 18446744073709551615");
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void field(const char* section, const char* key, const Enum&) {
    add(section, key, "word", join(ChoiceNames<Enum>::names, ", "));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void field(const char* section, const char* key, const std::optional<Enum>&) {
    add_optional(section, key, "word", join(ChoiceNames<Enum>::names, ", "));
  }
  void field(const char* section, const char* key, const std::int64_t&, const IntegerRange& range) {
    add(section, key, "integer", range.text());
  }
  void field(const char* section, const char* key, const std::optional<std::int64_t>&,
             const IntegerRange& range) {
    add_optional(section, key, "integer", range.text());
  }
  void field(const char* section, const char* key, const double&, const NumberRange& range) {
    add(section, key, "number", range.text());
  }
  void field(const char* section, const char* key, const std::optional<double>&, const NumberRange& range) {
    add_optional(section, key, "number", range.text());
  }
  void mask_value(const char* section, const char* key, const std::optional<double>&) {
    add(section, key, "number or word", "a finite number or \"-inf\"");
  }
  void valid_lens(const char* section, const char* key, const MaskSpec&) {
    add_optional(section, key, "list", "integers from 0 to S: (N), or lists (N,L)");
  }
  void numbers(const char* section, const char* key, const std::optional<std::vector<double>>&,
               const char* each) {
    add_optional(section, key, "list", fmt::format("finite numbers, {}", each));
  }
  void frozen(const char* section, const char* key, const std::optional<FrozenHeads>&) {
    add_optional(section, key, "object", "heads, and attn_weights: lists (N,F,L,S), a file or null");
  }
  void edits(const char* section, const char* key, const std::vector<CellEdit>&) {
    add(section, key, "list", "objects of tensor, index and value");
  }
};

}  // namespace

std::vector<ScenarioKey> scenario_keys() {
  const Scenario defaults;
  KeyReader reader;
  visit_scenario(defaults, reader);
  const nlohmann::json json = json_of(scenario_to_json(defaults, true));
  for (ScenarioKey& key : reader.keys) {
    const std::size_t dot = key.path.find('.');
    const nlohmann::json& value = dot == std::string::npos
                                      ? json.at(key.path)
                                      : json.at(key.path.substr(0, dot)).at(key.path.substr(dot + 1));
    key.default_value = json_text(value);
  }
  return std::move(reader.keys);
}

std::span<const WordRow> key_descriptions() {
  static const std::vector<WordRow> rows = word_rows(embedded::words_scenario_keys(), "scenario_keys.txt");
  return rows;
}

}  // namespace headwise
