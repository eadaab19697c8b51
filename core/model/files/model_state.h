// Whether a model on disk is still the one that was read.
#pragma once

#include <string>

#include "core/files/file_paths.h"

namespace headwise {

// What changes whenever a model's files do. Of a folder: file_state. Of a file: the newest time and all bytes of it and of what
// beside it says how it is read (config.json, the tokenizer's files).
FileState model_state(const std::string& path);

}  // namespace headwise
