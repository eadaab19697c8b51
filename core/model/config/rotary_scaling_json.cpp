#include "core/model/config/rotary_scaling_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headwise {
namespace {

// Far from overflow. mscale may be 0, which is as good as absent.
constexpr double most_factor = 1e15;
constexpr NumberRange factors{0.0, most_factor, true, "a number above 0, at most 1e15"},
    lengths{0.0, most_factor, false, "a number from 0 to 1e15"};
constexpr std::size_t most_pairs = 1U << 16;
constexpr std::initializer_list<const char*> base_keys{"rope_theta", "rotary_emb_base", "global_rope_theta"},
    share_keys{"partial_rotary_factor", "rotary_pct"};

const NumberRange& range_of(std::string_view key) {
  return key.starts_with("mscale") ? lengths : factors;
}

bool is_read_by(unsigned kinds, RotaryScalingKind kind) {
  return (kinds >> static_cast<unsigned>(kind) & 1U) != 0;
}

void read_member(const JsonValue& value, std::string_view, bool& member) {
  member = value.boolean();
}
void read_member(const JsonValue& value, std::string_view, std::vector<double>& member) {
  value.list("a list of numbers, one for each pair of columns");
  if (value.json().size() > most_pairs)
    value.refuse("the list is too long", "one number for each pair of columns");
  value.each([&](const JsonValue& entry) { member.push_back(entry.number(factors)); }, true);
}
template <class Number>
void read_member(const JsonValue& value, std::string_view key, Number& member) {
  member = value.number(range_of(key));
}

}  // namespace

std::optional<double> number_under(const JsonValue& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (object.has(key)) return object.number(key, 0.0, most_factor);
  return std::nullopt;
}

std::string rotary_scaling_type(const JsonValue& object) {
  for (const char* key : {"rope_type", "type"}) {
    if (!object.at(key).is_string()) continue;
    const auto type = object.at(key).get<std::string>();
    return type == "su" ? "longrope" : type;
  }
  return "";
}

bool scales_nothing(std::string_view type) {
  return type == "default" || type == "mrope";
}

std::optional<RotaryScalingKind> rotary_scaling_kind(std::string_view type) {
  const auto* const found = std::ranges::find(rotary_scaling_names, type);
  if (found == rotary_scaling_names.end()) return std::nullopt;
  return static_cast<RotaryScalingKind>(found - rotary_scaling_names.begin());
}

std::optional<double> written_rotary_base(const JsonValue& object) {
  return number_under(object, base_keys);
}
std::optional<double> written_rotary_share(const JsonValue& object) {
  return number_under(object, share_keys);
}

std::vector<std::string> rotary_object_keys() {
  std::vector<std::string> keys{"rope_type", "type"};
  for (const auto& written : {base_keys, share_keys}) keys.insert(keys.end(), written.begin(), written.end());
  return keys;
}

std::vector<std::string> rotary_scaling_keys(std::optional<RotaryScalingKind> kind) {
  std::vector<std::string> keys;
  const RotaryScaling any;
  visit_rotary_scaling(any, [&](const char* key, const auto&, unsigned kinds) {
    if (!kind || is_read_by(kinds, *kind)) keys.emplace_back(key);
  });
  return keys;
}

RotaryScaling read_rotary_scaling(const JsonValue& object, RotaryScalingKind kind) {
  RotaryScaling scaling;
  scaling.kind = kind;
  visit_rotary_scaling(scaling, [&](const char* key, auto& member, unsigned kinds) {
    if (is_read_by(kinds, kind) && object.has(key)) read_member(object[key], key, member);
  });
  return scaling;
}

nlohmann::ordered_json rotary_scaling_json(const RotaryScaling& scaling) {
  nlohmann::ordered_json json{{"rope_type", name_of(scaling.kind)}};
  visit_rotary_scaling(scaling, [&]<class T>(const char* key, const T& member, unsigned kinds) {
    if (!is_read_by(kinds, scaling.kind)) return;
    if constexpr (std::is_same_v<T, std::optional<double>>) {
      if (member) json[key] = *member;
    } else {
      json[key] = member;
    }
  });
  return json;
}

}  // namespace headwise
