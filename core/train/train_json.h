// A trained model's and an optimiser's settings as JSON: config.json of a checkpoint, with the names of
// transformers where it has one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/train/train_model.h"
#include "core/train/train_optimiser.h"

namespace headwise {

class JsonValue;
struct JsonFormat;

// "model_type" is "headwise". Every setting is written, also where it is the default.
nlohmann::ordered_json train_model_json(const TrainModelConfig& config);
nlohmann::ordered_json optimiser_json(const OptimiserConfig& config);

// The files of a checkpoint.
extern const JsonFormat training_format;

// The reverse; a setting that is missing has its default. Throws Error(input) that begins with the place of
// the value, for a setting of the wrong type,
// a setting nobody knows and a configuration that cannot be trained.
TrainModelConfig train_model_of_json(const JsonValue& json);
OptimiserConfig optimiser_of_json(const JsonValue& json);

// "learned", "rotary" …; "adamw" …: as on the command line. Throws Error(usage)
// that names the option and lists what there is.
TrainPositions train_positions_named(const std::string& option, const std::string& name);
OptimiserKind optimiser_kind_named(const std::string& option, const std::string& name);

}  // namespace headwise
