#include "core/model/model_state.h"

#include <algorithm>
#include <filesystem>

namespace headwise {
namespace {

namespace fs = std::filesystem;

// What is missing counts as nothing.
void add_file(ModelState& state, const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  if (error) return;
  state.modified = std::max(state.modified, static_cast<std::int64_t>(time.time_since_epoch().count()));
  if (const std::uint64_t size = fs::file_size(file, error); !error) state.bytes += size;
}

}  // namespace

ModelState model_state(const std::string& path) {
  std::error_code error;
  ModelState state;
  if (fs::is_directory(path, error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
      add_file(state, entry.path());
    return state;
  }
  add_file(state, path);
  for (const char* beside :
       {"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "merges.txt"})
    add_file(state, fs::path(path).parent_path() / beside);
  return state;
}

}  // namespace headwise
