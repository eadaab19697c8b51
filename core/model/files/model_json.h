// JSON that comes with models (config.json, the index of a sharded model), trusted as little as any other file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headwise {

// The object that a file holds. Throws Error(input) naming the file: missing, above 64 MiB, malformed, no object, a key
// twice in an object, more than 32 levels or 4 million values.
nlohmann::json read_model_json(const std::string& path);

}  // namespace headwise
