#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/scenario/json_document.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// JSON → the value of one key of a scenario, restricted to its allowed values. `place` is the key as error messages name it:
// "file.json: attention.num_heads". All throw Error(usage): what was got, what was expected. Private to core/scenario.

// One of ChoiceNames<Enum>; any other name is reported with the nearest of them.
template <class Enum>
Enum read_choice(const Json& value, const std::string& place) {
  constexpr auto& names = ChoiceNames<Enum>::names;
  const std::string expected = fmt::format("one of {}", join(names, ", "));
  if (!value.is_string()) wrong_value(place, "wrong type", describe(value), expected);
  const auto found = std::ranges::find(names, value.get_ref<const std::string&>());
  if (found == names.end()) {
    wrong_value(place, "unknown choice", describe(value), expected,
                did_you_mean(value.get_ref<const std::string&>(), {names.begin(), names.end()}));
  }
  return static_cast<Enum>(found - names.begin());
}

constexpr double largest_exact_integer = 9007199254740992.0;  // 2^53: above this, 8.0 need not mean 8
constexpr std::size_t most_index_entries = 8;

// An object with no other keys than these.
void check_object(const Json& value, const std::string& place, const std::vector<std::string>& keys,
                  const std::string& words) {
  if (!value.is_object()) wrong_value(place, "wrong type", describe(value), "an object with " + words);
  for (const auto& [key, unused] : value.items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    wrong_value(place, fmt::format("unknown key \"{}\"", key), "", join(keys, ", "), did_you_mean(key, keys));
  }
}

double read_number(const Json& value, const std::string& place, const NumberRange& range) {
  if (!value.is_number()) wrong_value(place, "wrong type", describe(value), range.text());
  const double number = value.get<double>();
  if (!range.contains(number)) wrong_value(place, "out of range", describe(value), range.text());
  return number;
}

// JSON has no numbers for these; a painted mask and a lesson about NaN need them.
double read_number_or_word(const Json& value, const std::string& place) {
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return read_number(value, place, {.words = "a number, \"-inf\", \"inf\" or \"nan\""});
}

// Nested lists, four levels deep, each level of equal lengths: (N,F,L,S′).
void read_nested_numbers(const Json& value, const std::string& place, std::size_t level,
                         std::vector<std::optional<Index>>& sizes, std::vector<double>& numbers) {
  if (level == sizes.size()) {
    numbers.push_back(read_number_or_word(value, place));
    return;
  }
  const std::string expected = "(N,F,L,S): lists of numbers, in lists, in lists, in a list";
  if (!value.is_array()) wrong_value(place, "wrong type", describe(value), expected);
  const auto size = static_cast<Index>(value.size());
  if (sizes[level] && *sizes[level] != size) {
    wrong_value(place, "lists of different lengths", fmt::format("{} and {}", *sizes[level], size), expected);
  }
  sizes[level] = size;
  for (const Json& entry : value) read_nested_numbers(entry, place, level + 1, sizes, numbers);
}

bool read_boolean(const Json& value, const std::string& place) {
  if (!value.is_boolean()) wrong_value(place, "wrong type", describe(value), "true or false");
  return value.get<bool>();
}

std::string read_string(const Json& value, const std::string& place) {
  if (!value.is_string()) wrong_value(place, "wrong type", describe(value), "a string");
  return value.get<std::string>();
}

// 8.0 is 8, as long as a double represents it exactly: up to 2^53.
std::int64_t read_integer(const Json& value, const std::string& place, const IntegerRange& range) {
  if (!value.is_number()) wrong_value(place, "wrong type", describe(value), range.text());
  std::int64_t integer = 0;
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number != std::floor(number)) wrong_value(place, "not a whole number", describe(value), range.text());
    if (std::abs(number) > largest_exact_integer) {
      wrong_value(place, "out of range", describe(value), range.text() + " and at most 9223372036854775807");
    }
    integer = static_cast<std::int64_t>(number);
  } else if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
    wrong_value(place, "out of range", describe(value), range.text() + " and at most 9223372036854775807");
  } else {
    integer = value.get<std::int64_t>();
  }
  if (!range.contains(integer)) wrong_value(place, "out of range", describe(value), range.text());
  return integer;
}

// All 64 bits: 0 to 18446744073709551615.
std::uint64_t read_seed(const Json& value, const std::string& place) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  const std::string expected = "an integer from 0 to 18446744073709551615";
  if (!value.is_number()) wrong_value(place, "wrong type", describe(value), expected);
  const double number = value.get<double>();
  if (number != std::floor(number)) wrong_value(place, "not a whole number", describe(value), expected);
  if (number < 0 || number > largest_exact_integer)
    wrong_value(place, "out of range", describe(value), expected);
  return static_cast<std::uint64_t>(number);
}

// {"heads": [4, 1], "attn_weights": …}: the weights are lists (N,F,L,S), the name of a file, or null.
FrozenHeads read_frozen_heads(const Json& value, const std::string& place) {
  check_object(value, place, {"heads", "attn_weights"}, "heads and attn_weights");
  if (!value.contains("heads"))
    wrong_value(place, "the key \"heads\" is missing", describe(value), "heads and attn_weights");
  FrozenHeads frozen;
  const Json& heads = value["heads"];
  if (!heads.is_array() || heads.empty()) {
    wrong_value(place + ".heads", heads.is_array() ? "no head is named" : "wrong type", describe(heads),
                "a list of heads, as in [4, 1]", "use null for heads.frozen if no head is frozen");
  }
  std::set<std::int64_t> different;
  for (const Json& entry : heads) {
    const std::int64_t head = read_integer(entry, place + ".heads", IntegerRange{0});
    if (!different.insert(head).second)
      wrong_value(place + ".heads", "a head is named twice", fmt::format("{}", head), "each head once");
    frozen.heads.push_back(head);
  }
  const auto weights = value.find("attn_weights");
  if (weights == value.end() || weights->is_null()) return frozen;
  if (weights->is_string()) {
    frozen.file = weights->get<std::string>();
    return frozen;
  }
  std::vector<std::optional<Index>> sizes(4);
  std::vector<double> numbers;
  read_nested_numbers(*weights, place + ".attn_weights", 0, sizes, numbers);
  if (sizes[1] && *sizes[1] != static_cast<Index>(frozen.heads.size())) {
    wrong_value(place + ".attn_weights", "there must be one map for each frozen head",
                fmt::format("{} maps for {} heads", *sizes[1], frozen.heads.size()),
                fmt::format("(N,F,L,S) with F = {}", frozen.heads.size()));
  }
  frozen.attn_weights = std::make_shared<const Tensor>(Shape{{"N", sizes[0].value_or(0)},
                                                             {"F", sizes[1].value_or(0)},
                                                             {"L", sizes[2].value_or(0)},
                                                             {"S", sizes[3].value_or(0)}},
                                                       std::move(numbers));
  return frozen;
}

// {"tensor": "q", "index": [0, 3, 8], "value": 0.5}: the value may be "-inf", "inf" or "nan" too.
CellEdit read_edit(const Json& value, const std::string& place) {
  check_object(value, place, {"tensor", "index", "value"}, "tensor, index and value");
  for (const char* key : {"tensor", "index", "value"}) {
    if (!value.contains(key))
      wrong_value(place, fmt::format("the key \"{}\" is missing", key), describe(value),
                  "tensor, index and value");
  }
  CellEdit edit;
  edit.tensor = read_string(value["tensor"], place + ".tensor");
  const Json& index = value["index"];
  if (!index.is_array() || index.size() > most_index_entries) {
    wrong_value(place + ".index", "wrong type", describe(index), "a list of at most 8 integers, one per axis");
  }
  for (const Json& entry : index)
    edit.index.push_back(read_integer(entry, place + ".index", IntegerRange{0}));
  edit.value = read_number_or_word(value["value"], place + ".value");
  return edit;
}

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
