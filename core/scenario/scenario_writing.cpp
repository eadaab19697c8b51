// Scenario → JSON, and --set, which changes that JSON and reads it again.
#include "core/scenario/scenario_json.h"

#include <fmt/format.h>
#include <limits>
#include <optional>
#include <set>
#include <string>
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
  const auto parts_of = [&](OrderedJson& entry, const std::string& name) -> OrderedJson& {
    if (!entry.is_null() && !entry.is_object())
      refuse(fmt::format("\"{}\" has no parts", name), "its whole value");
    return entry;
  };
  const std::size_t dot = path.find('.');
  const std::size_t inner = dot == std::string::npos ? dot : path.find('.', dot + 1);
  const std::string key = path.substr(0, inner);  // of the scenario; behind it, one of its object
  if (dot == std::string::npos) {
    root[path] = value;
  } else {
    const std::string name = path.substr(0, dot), own = key.substr(dot + 1);
    OrderedJson& entry = parts_of(root[name], name)[own];
    if (inner == std::string::npos) {
      entry = value;
    } else {
      // The rest of the object stays, also where a model's layer sets it.
      if (const OrderedJson all = all_keys(scenario); all.contains(name) && all[name].contains(own))
        entry = all[name][own];
      parts_of(entry, key)[path.substr(inner + 1)] = value;
    }
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
  for (const std::string& written : changed.origin.written)  // a whole section may be set
    if (written == key || written.starts_with(key + ".")) changed.origin.changed.insert(written);
  const bool of_layer = is_of_model(scenario) && scenario.origin.layer;
  // Other parameters keep the sizes of the layer; another layer brings its own.
  if (of_layer && !is_of_model(changed)) copy_layer_keys(scenario, changed, changed.origin.written);
  // Keys that are only in the JSON because they are not the default were not set by the user: they may be
  // assumed. Keys that differ from the layer were set by the user.
  std::erase_if(changed.origin.written, [&](const std::string& written) {
    return !scenario.origin.written.contains(written) && written != key && !written.starts_with(key + ".") &&
           !(of_layer && is_layer_key(written));
  });
  return changed;
}

}  // namespace headwise
