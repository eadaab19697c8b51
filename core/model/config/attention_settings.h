// The settings of config.json that change attention, in one list: which of them a family reads,
// and which values have no effect.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model/config/model_types.h"

namespace headwise {

// The settings of one model, or of one part of it, that its type is not known to read, as sentences:
// attention settings with a value that would change it, or keys that are in none of the lists here. `type`
// null: attention settings only, except the groups of reads:: in `computed`, as the rest cannot be known.
std::vector<std::string> settings_not_computed(const nlohmann::json& config, const ModelType* type,
                                               unsigned computed = 0);

}  // namespace headwise
