// Whether a model on disk is still the one that was read.
#pragma once

#include <cstdint>
#include <string>

namespace headwise {

// What changes whenever a model's files do. Of a folder: of what lies in it, for its own time is that of new names alone. Of a
// file: of it, and of what beside it says how it is read (config.json, the tokenizer's files).
struct ModelState {
  std::int64_t modified = 0;  // the newest, in the file system's ticks
  std::uint64_t bytes = 0;    // all together
  friend bool operator==(const ModelState&, const ModelState&) = default;
};
ModelState model_state(const std::string& path);

}  // namespace headwise
