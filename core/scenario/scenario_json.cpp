#include "core/scenario/scenario_json.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/files/json_text.h"
#include "core/model/config/rotary_scaling_json.h"
#include "core/scenario/json_document.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t most_index_entries = 8;

// JSON has no numbers for these; a painted mask and a lesson about NaN need them.
double number_or_word(const JsonValue& value) {
  if (value.json() == "-inf") return -std::numeric_limits<double>::infinity();
  if (value.json() == "inf") return std::numeric_limits<double>::infinity();
  if (value.json() == "nan") return std::numeric_limits<double>::quiet_NaN();
  return value.number(NumberRange{.words = "a number, \"-inf\", \"inf\" or \"nan\""});
}

// Nested lists, four levels deep, each level of equal lengths: (N,F,L,S′).
void read_nested_numbers(const JsonValue& value, std::size_t level, std::vector<std::optional<Index>>& sizes,
                         std::vector<double>& numbers) {
  if (level == sizes.size()) return numbers.push_back(number_or_word(value));
  const char* const expected = "(N,F,L,S): lists of numbers, in lists, in lists, in a list";
  const auto size = static_cast<Index>(value.list(expected).json().size());
  if (sizes[level] && *sizes[level] != size)
    value.refuse_got("lists of different lengths", fmt::format("{} and {}", *sizes[level], size), expected);
  sizes[level] = size;
  value.each([&](const JsonValue& entry) { read_nested_numbers(entry, level + 1, sizes, numbers); });
}

// {"heads": [4, 1], "attn_weights": …}: the weights are lists (N,F,L,S), the name of a file, or null.
void read_object(const JsonValue& value, FrozenHeads& frozen) {
  value.object("an object with heads and attn_weights").only({"heads", "attn_weights"}, "heads, attn_weights");
  const JsonValue heads = value.needed("heads", "heads and attn_weights");
  if (!heads.json().is_array() || heads.json().empty())
    heads.refuse(heads.json().is_array() ? "no head is named" : "wrong type", "a list of heads, as in [4, 1]",
                 "use null for heads.frozen if no head is frozen");
  std::set<std::int64_t> different;
  heads.each([&](const JsonValue& entry) {
    frozen.heads.push_back(entry.integer(0));
    if (!different.insert(frozen.heads.back()).second)
      entry.refuse("a head is named twice", "each head once");
  });
  const JsonValue weights = value["attn_weights"];
  if (weights.json().is_string()) frozen.file = weights.text();
  if (weights.json().is_null() || frozen.file) return;
  std::vector<std::optional<Index>> sizes(4);
  std::vector<double> numbers;
  read_nested_numbers(weights, 0, sizes, numbers);
  if (sizes[1] && *sizes[1] != static_cast<Index>(frozen.heads.size()))
    weights.refuse_got("there must be one map for each frozen head",
                       fmt::format("{} maps for {} heads", *sizes[1], frozen.heads.size()),
                       fmt::format("(N,F,L,S) with F = {}", frozen.heads.size()));
  frozen.attn_weights = std::make_shared<const Tensor>(Shape{{"N", sizes[0].value_or(0)},
                                                             {"F", sizes[1].value_or(0)},
                                                             {"L", sizes[2].value_or(0)},
                                                             {"S", sizes[3].value_or(0)}},
                                                       std::move(numbers));
}

// {"tensor": "q", "index": [0, 3, 8], "value": 0.5}: the value may be "-inf", "inf" or "nan" too.
CellEdit read_edit(const JsonValue& value) {
  const char* const keys = "tensor, index and value";
  value.object(fmt::format("an object with {}", keys))
      .only({"tensor", "index", "value"}, "tensor, index, value");
  for (const char* key : {"tensor", "index", "value"}) value.needed(key, keys);
  CellEdit edit;
  value["tensor"].read(edit.tensor);
  const JsonValue index = value["index"];
  if (!index.json().is_array() || index.json().size() > most_index_entries)
    index.refuse("wrong type", "a list of at most 8 integers, one per axis");
  index.each([&](const JsonValue& entry) { edit.index.push_back(entry.integer(0)); });
  edit.value = number_or_word(value["value"]);
  return edit;
}

// As in a model's config.json: {"rope_type": "yarn", "factor": 4, "rope_theta": 10000, …}. Its base is
// rotary_base, which may be written in one place or in both.
void read_rotary_object(const JsonValue& value, AttentionSpec& a) {
  constexpr const char* types = "linear, dynamic, llama3, yarn, longrope or default";
  value.object("an object as config.json's rope_scaling");
  const std::string type = rotary_scaling_type(value);
  const std::optional<RotaryScalingKind> kind = rotary_scaling_kind(type);
  if (!kind && !scales_nothing(type))
    (value.has("type") && !value.has("rope_type") ? value["type"] : value["rope_type"])
        .refuse("there is no such scaling", types);
  const nlohmann::json &own = value.at("rope_type"), &older = value.at("type");
  if (own.is_string() && older.is_string() && own != older && older != "su")
    value["type"].refuse("it contradicts rope_type", "one of the two, or the same in both");
  std::vector<std::string> keys = kind ? rotary_scaling_keys(kind) : std::vector<std::string>();
  for (std::string& key : rotary_object_keys())
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
  value.only(keys, join(keys, ", "));
  if (const std::optional<double> base = written_rotary_base(value)) {
    if (a.rotary_base && *a.rotary_base != *base)
      value.refuse_got("its rope_theta differs from attention.rotary_base",
                       fmt::format("{:g} beside {:g}", *base, *a.rotary_base), "one base",
                       "leave one of the two out");
    a.rotary_base = base;
  }
  const double share = written_rotary_share(value).value_or(1.0);
  if (!kind && share != 1.0)
    value.refuse_got(
        "its partial_rotary_factor rotates a part of each head's columns, but without a scaling all are "
        "rotated",
        fmt::format("{:g}", share), "1",
        "write the frequencies of the rotated pairs in attention.rotary_inverse_frequencies");
  if (!kind) return;
  a.rotary_scaling = read_rotary_scaling(value, *kind);
  a.rotary_scaling->partial_rotary_factor.reset();
  if (share != 1.0) a.rotary_scaling->partial_rotary_factor = share;
}

// {"buckets": 32, "max_distance": 128, "bidirectional": true}: T5's, where a key is left out.
void read_object(const JsonValue& value, RelativeBias& bias) {
  const char* const keys = "buckets, max_distance, bidirectional";
  value.object(fmt::format("an object with {}", keys)).only({"buckets", "max_distance", "bidirectional"}, keys);
  if (value.has("buckets")) value["buckets"].read(bias.buckets, positive_integer);
  if (value.has("max_distance")) value["max_distance"].read(bias.max_distance, positive_integer);
  if (value.has("bidirectional")) value["bidirectional"].read(bias.bidirectional);
}

// {"heads": 2, "width": 8, "k": 4, "rotary_pairs": "halves"}: all but the last are needed.
void read_object(const JsonValue& value, Indexer& indexer) {
  value.object("an object with heads, width and k")
      .only({"heads", "width", "k", "rotary_pairs"}, "heads, width, k, rotary_pairs");
  for (const auto& [key, member] :
       {std::pair("heads", &Indexer::heads), {"width", &Indexer::width}, {"k", &Indexer::k}})
    value.needed(key, "heads, width and k").read(indexer.*member, positive_integer);
  if (value.has("rotary_pairs"))
    value["rotary_pairs"].read(indexer.rotary_pairs, ChoiceNames<RotaryPairs>::names);
}

// Section → its keys, "" being the top level.
using KnownKeys = std::map<std::string, std::vector<std::string>>;

KnownKeys known_keys() {
  KnownKeys known;
  const Scenario scenario;
  for_each_key(scenario,
               [&](const char* section, const char* key, const auto&) { known[section].emplace_back(key); });
  std::vector<std::string>& top = known[""];
  for (const auto& [section, keys] : known)
    if (!section.empty()) top.push_back(section);
  top.push_back("headwise");
  return known;
}

void refuse_unknown_key(const JsonValue& root, const std::string& section, const std::string& key,
                        const KnownKeys& known) {
  std::string nearest = nearest_name(key, known.at(section));
  if (!nearest.empty()) nearest = key_path(section, nearest);
  for (const auto& [other, keys] : known) {  // the right key in the wrong section
    for (const std::string& candidate : keys)
      if (candidate == key) nearest = key_path(other, key);
  }
  root.refuse_got(fmt::format("unknown key \"{}\"", key_path(section, key)), "", "",
                  nearest.empty() ? "headwise list settings lists all keys" : suggestion(nearest));
}

void check_keys(const JsonValue& root, const KnownKeys& known) {
  for (const auto& [key, value] : root.json().items()) {
    if (std::ranges::find(known.at(""), key) == known.at("").end()) refuse_unknown_key(root, "", key, known);
    const auto section = known.find(key);
    if (section == known.end()) continue;
    for (const auto& [inner, unused] : root[key].object().json().items())
      if (std::ranges::find(section->second, inner) == section->second.end())
        refuse_unknown_key(root, key, inner, known);
  }
}

void check_version(const JsonValue& root) {
  if (!root.contains("headwise")) return;
  const JsonValue version = root["headwise"];
  if (!version.json().is_number()) version.refuse("wrong type", "the format version, 1");
  if (version.number() == scenario_format_version) return;
  const bool newer =
      version.json().is_number_unsigned() && version.json().get<std::uint64_t>() > scenario_format_version;
  version.refuse_got(newer ? "this scenario was written by a newer Headwise" : "unknown format version",
                     "version " + describe(version.json()), "version 1",
                     newer ? "open it with that version, or save it there for this one" : "");
}

struct Reader {
  const JsonValue root;
  std::set<std::string> written;
  std::optional<JsonValue> rotary_object = {};  // attention.rotary_scaling, which may have the base

  // The key's value; nullopt if the file omits it.
  std::optional<JsonValue> find(const std::string& section, const char* key) {
    const JsonValue parent = section.empty() ? root : root[section];
    if (!parent.contains(key)) return std::nullopt;
    written.insert(key_path(section, key));
    return parent[key];
  }

  template <class T, class... Range>
  void field(const char* section, const char* key, T& member, const Range&... range) {
    if (const auto value = find(section, key)) value->read(member, range...);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void field(const char* section, const char* key, Enum& member) {
    field(section, key, member, ChoiceNames<Enum>::names);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void field(const char* section, const char* key, std::optional<Enum>& member) {
    field(section, key, member, ChoiceNames<Enum>::names);
  }

  void field(const char* section, const char* key, std::optional<double>& member, const FillValue& range) {
    const auto value = find(section, key);
    if (!value) return;
    if (value->json() == "-inf") return member.reset();
    member = value->number(range);
  }

  // (N): a list of integers; (N,L): a list of N lists of L integers.
  void valid_lens(const char* section, const char* key, MaskSpec& mask) {
    const auto value = find(section, key);
    if (!value) return;
    mask.valid_lens.reset();
    mask.valid_lens_per_query = false;
    if (value->json().is_null()) return;
    const Json& list = value->list("a list (N), or a list of lists (N,L), of integers").json();
    std::vector<std::vector<std::int64_t>> lens;
    const bool per_query = !list.empty() && list.front().is_array();
    value->each([&](const JsonValue& entry) {
      std::vector<std::int64_t>& row = lens.emplace_back();
      if (entry.json().is_array() != per_query)
        entry.refuse("integers and lists mixed", "either integers (N) or lists of integers (N,L)");
      if (!per_query) return row.push_back(entry.integer(0));
      entry.each([&](const JsonValue& length) { row.push_back(length.integer(0)); });
      if (row.size() != lens.front().size())
        entry.refuse_got("lists of different lengths",
                         fmt::format("{} and {}", lens.front().size(), row.size()), "L integers in each list");
    });
    mask.valid_lens = std::move(lens);
    mask.valid_lens_per_query = per_query;
  }

  void field(const char* section, const char* key, std::optional<std::vector<double>>& member,
             const char* each) {
    const auto value = find(section, key);
    if (!value) return;
    member.reset();
    if (value->json().is_null()) return;
    value->list(std::string("a list of numbers, ") + each);
    member.emplace();
    value->each([&](const JsonValue& entry) { member->push_back(entry.number(any_number)); });
  }

  // null, a number, or a list of numbers
  void field(const char* section, const char* key, std::vector<double>& member, const NumberRange& range) {
    const auto value = find(section, key);
    if (!value) return;
    member.clear();
    if (value->json().is_null()) return;
    if (!value->json().is_array()) return member.push_back(value->number(range));
    value->each([&](const JsonValue& entry) { member.push_back(entry.number(range)); }, true);
    if (member.empty()) value->refuse("there is no number in the list", "null, a number, or one per head");
  }

  void field(const char* section, const char* key, std::optional<RotaryScaling>& member) {
    member.reset();
    if (const auto value = find(section, key); value && !value->json().is_null())
      rotary_object.emplace(*value);
  }

  // null, or an object
  template <class T>
  requires requires(const JsonValue& value, T& object) { read_object(value, object); }
  void field(const char* section, const char* key, std::optional<T>& member) {
    const auto value = find(section, key);
    if (!value) return;
    member.reset();
    if (!value->json().is_null()) read_object(*value, member.emplace());
  }

  void field(const char* section, const char* key, std::vector<CellEdit>& member) {
    const auto value = find(section, key);
    if (!value) return;
    value->list("a list of edits");
    member.clear();
    value->each([&](const JsonValue& entry) { member.push_back(read_edit(entry)); }, true);
  }
};

}  // namespace

Scenario scenario_from_json(std::string_view json, const std::string& where) {
  const Json parsed = parse_json(json, where, scenario_format);
  const JsonValue root(parsed, where, scenario_format);
  if (!parsed.is_object()) root.refuse("a scenario is a JSON object", "{\"headwise\": 1, …}");
  if (root.contains("headwise_playlist"))
    root.refuse_got("this is a playlist", "", "a scenario",
                    "headwise render makes pictures of its pages, headwise info describes it");
  check_version(root);
  static const KnownKeys known = known_keys();
  check_keys(root, known);
  Scenario scenario;
  Reader reader{root, {}};
  visit_scenario(scenario, reader);
  if (reader.rotary_object) {
    read_rotary_object(*reader.rotary_object, scenario.attention);
    if (scenario.attention.rotary_base) reader.written.insert("attention.rotary_base");
  }
  scenario.origin.written = std::move(reader.written);
  return scenario;
}

}  // namespace headwise
