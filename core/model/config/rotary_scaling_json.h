// A rotary scaling as config.json and scenarios write it: {"rope_type": "yarn", "factor": 4, …}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/rotary_scaling.h"
#include "core/files/json_value.h"

namespace headwise {

// Under rope_type, or type in older files; empty if neither is a string.
std::string rotary_scaling_type(const JsonValue& object);
// nullopt: there is no such type here.
std::optional<RotaryScalingKind> rotary_scaling_kind(const std::string& type);

// Every key that such an object may have, of all kinds or of one; the type's own keys are not among them.
std::vector<std::string> rotary_scaling_keys(std::optional<RotaryScalingKind> kind = std::nullopt);

// The object, of a kind that rotary_scaling_type names; keys that are null or absent have their defaults, and
// keys of other kinds are not read. Throws Error for a value of another type or outside its range.
RotaryScaling read_rotary_scaling(const JsonValue& object, RotaryScalingKind kind);

// Its type and what its kind reads.
nlohmann::ordered_json rotary_scaling_json(const RotaryScaling& scaling);

}  // namespace headwise
