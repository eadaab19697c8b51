// A rotary scaling as config.json and scenarios write it: {"rope_type": "yarn", "factor": 4, …}.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/rotary_scaling.h"
#include "core/files/json_value.h"

namespace headwise {

// The first of the keys that is present, above 0.
std::optional<double> number_under(const JsonValue& object, std::initializer_list<const char*> keys);

// Under rope_type, or type in older files, "longrope" for its old name "su"; empty if neither is a string.
std::string rotary_scaling_type(const JsonValue& object);
// "default", and the mrope of earlier files.
bool scales_nothing(std::string_view type);
// nullopt: there is no such type here.
std::optional<RotaryScalingKind> rotary_scaling_kind(std::string_view type);

// What the object, or a config.json, says besides: the base, and the share of a head's columns that turns.
std::optional<double> written_rotary_base(const JsonValue& object);
std::optional<double> written_rotary_share(const JsonValue& object);

// Every key that such an object may have, of all kinds or of one.
std::vector<std::string> rotary_scaling_keys(std::optional<RotaryScalingKind> kind = std::nullopt);
// Those that it has whether it scales or not: the type, the base and the share.
std::vector<std::string> rotary_object_keys();

// The object, of a kind that rotary_scaling_type names; keys that are null or absent have their defaults, and
// keys of other kinds are not read. Throws Error for a value of another type or outside its range.
RotaryScaling read_rotary_scaling(const JsonValue& object, RotaryScalingKind kind);

// Its type and what its kind reads.
nlohmann::ordered_json rotary_scaling_json(const RotaryScaling& scaling);

}  // namespace headwise
