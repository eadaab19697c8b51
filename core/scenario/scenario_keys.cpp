#include "core/scenario/scenario_keys.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files/json_text.h"
#include "core/scenario/json_document.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/join.h"

namespace headwise {

std::string_view embedded_words_scenario_keys();

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
  template <class T, class... Range>
  void field(const char* section, const char* key, const T&, const Range&... range) {
    describe<T>(section, key, "", range...);
  }
  template <class T, class... Range>
  void field(const char* section, const char* key, const std::optional<T>&, const Range&... range) {
    describe<T>(section, key, " or null", range...);
  }
  template <class T, class... Range>
  void describe(const char* section, const char* key, const std::string& or_null, const Range&... range) {
    if constexpr (std::is_enum_v<T>)
      add(section, key, "word" + or_null, join(ChoiceNames<T>::names, ", "));
    else if constexpr (std::is_same_v<T, bool>)
      add(section, key, "boolean" + or_null, "true or false");
    else if constexpr (std::is_same_v<T, std::string>)
      add(section, key, "string" + or_null, "any");
    else if constexpr (std::is_same_v<T, std::uint64_t>)
      add(section, key, "integer" + or_null, "0 to 18446744073709551615");
    else
      add(section, key, (std::is_same_v<T, double> ? "number" : "integer") + or_null, (range.text() + ...));
  }
  void field(const char* section, const char* key, const std::optional<double>&, const FillValue&) {
    add(section, key, "number or word", "a finite number or \"-inf\"");
  }
  void valid_lens(const char* section, const char* key, const MaskSpec&) {
    add(section, key, "list or null", "integers from 0 to S: (N), or lists (N,L)");
  }
  void field(const char* section, const char* key, const std::optional<std::vector<double>>&, const char* each) {
    add(section, key, "list or null", fmt::format("finite numbers, {}", each));
  }
  void field(const char* section, const char* key, const std::vector<double>&, const NumberRange& range) {
    add(section, key, "number, list or null", fmt::format("{}, or a list with one per head", range.text()));
  }
  void field(const char* section, const char* key, const std::optional<FrozenHeads>&) {
    add(section, key, "object or null", "heads, and attn_weights: lists (N,F,L,S), a file or null");
  }
  void field(const char* section, const char* key, const std::optional<RelativeBias>&) {
    add(section, key, "object or null", "buckets (32), max_distance (128) and bidirectional (true)");
  }
  void field(const char* section, const char* key, const std::optional<Indexer>&) {
    add(section, key, "object or null", "heads, width, k and rotary_pairs (\"halves\" or \"neighbours\")");
  }
  void field(const char* section, const char* key, const std::optional<RotaryScaling>&) {
    add(section, key, "object or null", "rope_type, factor and more, as config.json's rope_scaling");
  }
  void field(const char* section, const char* key, const std::vector<CellEdit>&) {
    add(section, key, "list", "objects of tensor, index and value");
  }
};

template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
bool same(const std::vector<CellEdit>& a, const std::vector<CellEdit>& b) {
  return std::ranges::equal(a, b, [](const CellEdit& x, const CellEdit& y) {
    const bool same_value = x.value == y.value || (std::isnan(x.value) && std::isnan(y.value));
    return same_value && x.tensor == y.tensor && x.index == y.index;
  });
}

}  // namespace

std::vector<ScenarioKey> scenario_keys() {
  const Scenario defaults;
  KeyReader reader;
  visit_scenario(defaults, reader);
  const nlohmann::json json = json_of(scenario_to_json(defaults, true));
  for (ScenarioKey& key : reader.keys) {
    std::string pointer = "/" + key.path;
    std::ranges::replace(pointer, '.', '/');
    key.default_value = json_text(json.at(nlohmann::json::json_pointer(pointer)));
  }
  return std::move(reader.keys);
}

std::span<const WordRow> key_descriptions() {
  static const std::vector<WordRow> rows = word_rows(embedded_words_scenario_keys(), "scenario_keys.txt");
  return rows;
}

std::vector<std::string> differing_keys(const Scenario& a, const Scenario& b) {
  std::vector<std::string> paths;
  for_key_pairs(a, b, [&](const std::string& path, const auto& of_a, const auto& of_b) {
    if (!same(of_a, of_b) && (paths.empty() || paths.back() != path)) paths.push_back(path);
  });
  return paths;
}

void copy_keys(const std::vector<std::string>& paths, const Scenario& from, Scenario& to) {
  for_key_pairs(to, from, [&](const std::string& path, auto& member, const auto& other) {
    if (std::ranges::find(paths, path) != paths.end()) member = other;
  });
}

std::string key_value_text(const Scenario& scenario, const std::string& path) {
  Scenario alone;  // without the texts and the long lists of the others
  copy_keys({path}, scenario, alone);
  std::string pointer = "/" + path;
  std::ranges::replace(pointer, '.', '/');
  const Json value = json_of(scenario_to_json(alone, true)).at(Json::json_pointer(pointer));
  if (value.is_null()) return "automatic";
  if (value.is_string()) return value.get<std::string>();
  return value.is_structured() ? "" : json_text(value);
}

}  // namespace headwise
