// The formats of models' JSON files (config.json, the index of a sharded model, tokenizer.json), trusted no
// more than any other file.
#pragma once

#include "core/files/json_value.h"

namespace headwise {

// A whole file. An index has a key for each of its arrays; this many values are some 300 MB of memory.
inline constexpr JsonFormat model_format{
    .limits = {.levels = 32, .values = 4'000'000, .keys = 4'000'000},
    .dialect = JsonDialect::python,
    .remedy = "download the file again from where the model was published"};
// A setting in it that attention depends on.
inline constexpr JsonFormat config_format{.dialect = JsonDialect::python, .problem = "the setting is wrong"};

}  // namespace headwise
