#include "core/model/config/rotary_scaling_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headwise {
namespace {

constexpr std::array<std::string_view, 5> kind_names{"linear", "dynamic", "llama3", "yarn", "longrope"};
// Far from overflow. mscale may be 0, which is as good as absent.
constexpr NumberRange factors{0.0, 1e15, true, "a number above 0, at most 1e15"},
    lengths{0.0, 1e15, false, "a number from 0 to 1e15"};
constexpr std::size_t most_pairs = 1U << 16;

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

std::string rotary_scaling_type(const JsonValue& object) {
  for (const char* key : {"rope_type", "type"})
    if (object.at(key).is_string()) return object.at(key).get<std::string>();
  return "";
}

std::optional<RotaryScalingKind> rotary_scaling_kind(const std::string& type) {
  const auto* const found = std::ranges::find(kind_names, type);
  if (found == kind_names.end()) return std::nullopt;
  return static_cast<RotaryScalingKind>(found - kind_names.begin());
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
  nlohmann::ordered_json json{{"rope_type", kind_names[static_cast<std::size_t>(scaling.kind)]}};
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
