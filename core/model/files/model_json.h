// JSON files of models (config.json, the index of a sharded model), trusted no more than any other file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headwise {

// The object in a file. Throws Error(input) naming the file: missing, above 64 MiB, malformed (bare Infinity
// and NaN are read as core/files/strict_json.h says), not an object, a duplicate key in an object, more than
// 32 levels or 4 million values.
nlohmann::json read_model_json(const std::string& path);

}  // namespace headwise
