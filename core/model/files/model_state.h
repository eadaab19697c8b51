// Whether a model on disk has changed since it was read.
#pragma once

#include <string>

#include "core/files/file_paths.h"

namespace headwise {

// Changes whenever a model's files do. For a folder: file_state. For a file: the newest time and the total
// bytes of it and of the files next to it that say how to read it (config.json, the tokenizer's files).
FileState model_state(const std::string& path);

}  // namespace headwise
