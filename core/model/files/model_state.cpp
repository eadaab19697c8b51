#include "core/model/files/model_state.h"

#include <algorithm>
#include <filesystem>

namespace headwise {

FileState model_state(const std::string& path) {
  FileState state = file_state(path);
  if (is_folder(path)) return state;
  for (const char* name :
       {"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "merges.txt"}) {
    const std::string beside = (std::filesystem::path(path).parent_path() / name).string();
    if (!is_there(beside)) continue;
    const FileState one = file_state(beside);
    state.modified = std::max(state.modified, one.modified);
    state.bytes += one.bytes;
  }
  return state;
}

}  // namespace headwise
