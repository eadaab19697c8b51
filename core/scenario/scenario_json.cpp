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
FrozenHeads read_frozen_heads(const JsonValue& value) {
  value.object("an object with heads and attn_weights").only({"heads", "attn_weights"}, "heads, attn_weights");
  FrozenHeads frozen;
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
  if (weights.json().is_null() || frozen.file) return frozen;
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
  return frozen;
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

// As in a model's config.json: {"rope_type": "yarn", "factor": 4, …}.
RotaryScaling read_scaling(const JsonValue& value) {
  constexpr const char* types = "linear, dynamic, llama3, yarn or longrope";
  value.object("an object as config.json's rope_scaling");
  const std::optional<RotaryScalingKind> kind = rotary_scaling_kind(rotary_scaling_type(value));
  if (!kind)
    (value.has("type") && !value.has("rope_type") ? value["type"] : value["rope_type"])
        .refuse("there is no such scaling", types);
  std::vector<std::string> keys = rotary_scaling_keys(kind);
  keys.insert(keys.end(), {"rope_type", "type"});
  value.only(keys, join(keys, ", "));
  return read_rotary_scaling(value, *kind);
}

// {"buckets": 32, "max_distance": 128, "bidirectional": true}: T5's, where a key is left out.
RelativeBias read_relative_bias(const JsonValue& value) {
  const char* const keys = "buckets, max_distance, bidirectional";
  value.object(fmt::format("an object with {}", keys)).only({"buckets", "max_distance", "bidirectional"}, keys);
  RelativeBias bias;
  if (value.has("buckets")) value["buckets"].read(bias.buckets, positive_integer);
  if (value.has("max_distance")) value["max_distance"].read(bias.max_distance, positive_integer);
  if (value.has("bidirectional")) value["bidirectional"].read(bias.bidirectional);
  return bias;
}

// {"heads": 2, "width": 8, "k": 4, "rotary_pairs": "halves"}: all but the last are needed.
Indexer read_indexer(const JsonValue& value) {
  value.object("an object with heads, width and k")
      .only({"heads", "width", "k", "rotary_pairs"}, "heads, width, k, rotary_pairs");
  Indexer indexer;
  for (const auto& [key, member] :
       {std::pair("heads", &Indexer::heads), {"width", &Indexer::width}, {"k", &Indexer::k}})
    value.needed(key, "heads, width and k").read(indexer.*member, positive_integer);
  if (value.has("rotary_pairs"))
    value["rotary_pairs"].read(indexer.rotary_pairs, ChoiceNames<RotaryPairs>::names);
  return indexer;
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
    if (member.empty()) value->refuse("there is no number in the list", "null, a number, or one a head");
  }

  void field(const char* section, const char* key, std::optional<FrozenHeads>& member) {
    const auto value = find(section, key);
    if (!value) return;
    member.reset();
    if (!value->json().is_null()) member = read_frozen_heads(*value);
  }

  void field(const char* section, const char* key, std::optional<RotaryScaling>& member) {
    const auto value = find(section, key);
    if (!value) return;
    member.reset();
    if (!value->json().is_null()) member = read_scaling(*value);
  }

  void field(const char* section, const char* key, std::optional<RelativeBias>& member) {
    const auto value = find(section, key);
    if (!value) return;
    member.reset();
    if (!value->json().is_null()) member = read_relative_bias(*value);
  }

  void field(const char* section, const char* key, std::optional<Indexer>& member) {
    const auto value = find(section, key);
    if (!value) return;
    member.reset();
    if (!value->json().is_null()) member = read_indexer(*value);
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
  scenario.origin.written = std::move(reader.written);
  return scenario;
}

// Scenario → JSON, and --set, which changes that JSON and reads it again.

namespace {

using OrderedJson = nlohmann::ordered_json;

// A number that has no JSON literal is written as a word that the reader accepts.
OrderedJson number_or_word(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

// Nested lists, one level per axis from this one on; `next` is the next flat cell.
OrderedJson nested_numbers(const Tensor& tensor, Index axis, Index& next) {
  OrderedJson list = OrderedJson::array();
  for (Index i = 0; i < tensor.shape().size(axis); ++i) {
    if (axis + 1 < tensor.shape().rank()) {
      list.push_back(nested_numbers(tensor, axis + 1, next));
    } else {
      list.push_back(number_or_word(tensor.flat(next++)));
    }
  }
  return list;
}

// Every key with its value, in the order of the format.
struct Writer {
  OrderedJson root = OrderedJson::object();

  OrderedJson& at(const std::string& section, const char* key) {
    return section.empty() ? root[key] : root[section][key];
  }

  template <class T, class... Range>
  void field(const char* section, const char* key, const T& member, const Range&...) {
    if constexpr (std::is_enum_v<T>)
      at(section, key) = choice_name(member);
    else
      at(section, key) = member;
  }
  template <class T, class... Range>
  void field(const char* section, const char* key, const std::optional<T>& member, const Range&... range) {
    if (member)
      field(section, key, *member, range...);
    else
      at(section, key) = nullptr;
  }
  void field(const char* section, const char* key, const std::vector<double>& member, const NumberRange&) {
    OrderedJson& value = at(section, key) = nullptr;
    if (member.size() == 1) value = member.front();
    if (member.size() > 1) value = member;
  }
  void field(const char* section, const char* key, const std::optional<double>& member, const FillValue&) {
    at(section, key) = number_or_word(member.value_or(-std::numeric_limits<double>::infinity()));
  }
  void valid_lens(const char* section, const char* key, const MaskSpec& mask) {
    OrderedJson& value = at(section, key) = nullptr;
    if (!mask.valid_lens) return;
    value = OrderedJson::array();
    for (const auto& row : *mask.valid_lens) {
      if (mask.valid_lens_per_query || row.size() != 1)
        value.push_back(row);
      else
        value.push_back(row.front());
    }
  }
  void field(const char* section, const char* key, const std::optional<FrozenHeads>& member) {
    OrderedJson& value = at(section, key) = nullptr;
    if (!member) return;
    value = {{"heads", member->heads}};
    if (member->file) value["attn_weights"] = *member->file;
    if (member->attn_weights) {
      Index next = 0;
      value["attn_weights"] = nested_numbers(*member->attn_weights, 0, next);
    }
  }
  void field(const char* section, const char* key, const std::optional<RelativeBias>& member) {
    OrderedJson& value = at(section, key) = nullptr;
    if (member)
      value = {{"buckets", member->buckets},
               {"max_distance", member->max_distance},
               {"bidirectional", member->bidirectional}};
  }
  void field(const char* section, const char* key, const std::optional<Indexer>& member) {
    OrderedJson& value = at(section, key) = nullptr;
    if (member)
      value = {{"heads", member->heads},
               {"width", member->width},
               {"k", member->k},
               {"rotary_pairs", choice_name(member->rotary_pairs)}};
  }
  void field(const char* section, const char* key, const std::optional<RotaryScaling>& member) {
    at(section, key) = member ? rotary_scaling_json(*member) : OrderedJson();
  }
  void field(const char* section, const char* key, const std::vector<CellEdit>& member) {
    OrderedJson& value = at(section, key) = OrderedJson::array();
    for (const CellEdit& edit : member)
      value.push_back({{"tensor", edit.tensor}, {"index", edit.index}, {"value", number_or_word(edit.value)}});
  }
};

OrderedJson all_keys(const Scenario& scenario) {
  Writer writer;
  writer.root["headwise"] = scenario_format_version;
  visit_scenario(scenario, writer);
  return writer.root;
}

// Without the keys that the user did not set and that have their default,
// or the value determined by a model's layer.
OrderedJson own_keys(const Scenario& scenario) {
  Scenario base;
  if (is_of_model(scenario) && scenario.origin.layer) copy_layer_keys(*scenario.origin.layer, base);
  const OrderedJson all = all_keys(scenario), defaults = all_keys(base);
  const std::set<std::string>& written = scenario.origin.written;
  OrderedJson own;
  for (const auto& [key, value] : all.items()) {
    if (!value.is_object()) {
      if (key == "headwise" || value != defaults[key] || written.contains(key)) own[key] = value;
      continue;
    }
    for (const auto& [inner, entry] : value.items())
      if (entry != defaults[key][inner] || written.contains(key + "." + inner)) own[key][inner] = entry;
  }
  return own;
}

// One line per key; the edits, of which there may be many, one line each.
std::string layout(const OrderedJson& root) {
  std::string text = "{";
  const char* comma = "";
  for (const auto& [key, value] : root.items()) {
    text += fmt::format("{}\n  {}: ", comma, json_text(OrderedJson(key)));
    comma = ",";
    if (!value.is_structured() || value.empty()) {
      text += json_text(value);
      continue;
    }
    text += value.is_object() ? "{" : "[";
    const char* inner_comma = "";
    for (const auto& [inner, entry] : value.items()) {
      text += fmt::format("{}\n    ", inner_comma);
      if (value.is_object()) text += json_text(OrderedJson(inner)) + ": ";
      text += json_text(entry);
      inner_comma = ",";
    }
    text += value.is_object() ? "\n  }" : "\n  ]";
  }
  return text + "\n}\n";
}

// Accepted by the reader or not.
bool is_json(std::string_view text) {
  try {
    parse_strict_json(text, scenario_format.limits);
    return true;
  } catch (const JsonRefusal& refusal) {
    return refusal.is_json;
  }
}

}  // namespace

std::string scenario_to_json(const Scenario& scenario, bool complete) {
  try {
    return layout(complete ? all_keys(scenario) : own_keys(scenario));
  } catch (const OrderedJson::type_error& error) {
    throw Error(ExitStatus::usage, {.where = "scenario",
                                    .what = "a text is not UTF-8, which JSON requires",
                                    .got = error.what(),
                                    .expected = "UTF-8"});
  }
}

Scenario with_setting(const Scenario& scenario, std::string_view path_equals_value) {
  const std::string where = "--set " + std::string(path_equals_value);
  const auto refuse = [&](const std::string& what, const std::string& expected) {
    throw Error(ExitStatus::usage, {.where = where, .what = what, .expected = expected});
  };
  const std::size_t equals = path_equals_value.find('=');
  if (equals == std::string_view::npos || equals == 0)
    refuse("not a setting", "PATH=VALUE, as in attention.num_heads=4");
  const std::string path(path_equals_value.substr(0, equals));
  const std::string text(path_equals_value.substr(equals + 1));
  OrderedJson value;
  if (is_json(text)) {
    parse_json(text, where, scenario_format);  // refuses duplicate keys, too many levels, 1e999
    value = ordered_json_of(text);
  } else {
    value = text;
  }
  OrderedJson root = own_keys(scenario);
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) {
    root[path] = value;
  } else {
    OrderedJson& section = root[path.substr(0, dot)];
    if (!section.is_null() && !section.is_object())
      refuse(fmt::format("\"{}\" has no parts", path.substr(0, dot)), "its whole value");
    section[path.substr(dot + 1)] = value;
  }

  std::string json;
  try {
    json = json_text(root);
  } catch (const OrderedJson::type_error&) {
    refuse("the setting is not UTF-8", "UTF-8");
  }
  Scenario changed = scenario_from_json(json, where);
  changed.origin.folder = scenario.origin.folder;
  changed.origin.file = scenario.origin.file;
  changed.origin.changed = scenario.origin.changed;
  for (const std::string& key : changed.origin.written)  // a whole section may be set
    if (key == path || key.starts_with(path + ".")) changed.origin.changed.insert(key);
  const bool of_layer = is_of_model(scenario) && scenario.origin.layer;
  // Other parameters keep the sizes of the layer; another layer brings its own.
  if (of_layer && !is_of_model(changed)) copy_layer_keys(scenario, changed, changed.origin.written);
  // Keys that are only in the JSON because they are not the default were not set by the user: they may be
  // assumed. Keys that differ from the layer were set by the user.
  std::erase_if(changed.origin.written, [&](const std::string& key) {
    return !scenario.origin.written.contains(key) && key != path && !key.starts_with(path + ".") &&
           !(of_layer && is_layer_key(key));
  });
  return changed;
}

}  // namespace headwise
