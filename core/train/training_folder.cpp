#include "core/train/training_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/files/file_paths.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished_prefix = ".checkpoint-", unfinished_suffix = ".part";

bool is_own(const std::string& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && found.st_uid == geteuid();
}

bool is_unfinished(std::string_view name) {
  if (!name.starts_with(unfinished_prefix) || !name.ends_with(unfinished_suffix) ||
      name.size() <= unfinished_prefix.size() + unfinished_suffix.size())
    return false;
  name.remove_prefix(unfinished_prefix.size());
  name.remove_suffix(unfinished_suffix.size());
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

TrainingFolder::TrainingFolder(const std::string& folder) : folder_(folder) {
  std::error_code error, ignored;
  made_ = fs::create_directories(folder, error);
  if (error)
    throw Error(ExitStatus::output,
                {folder, "the folder of the checkpoints could not be created", error.message(), "", ""});
  const std::string path = folder + "/" + lock_name;
  lock_ = FileLock::take(path);
  if (!lock_) {
    const int holder = FileLock::holder(path);
    throw Error(ExitStatus::output, {folder, "another training is being written into this folder",
                                     holder == 0 ? "" : fmt::format("process {}", holder), "",
                                     "wait for it, or choose another folder"});
  }
  for (const std::string& left : paths_in(folder))
    if (is_unfinished(fs::path(left).filename().string()) && is_own(left)) fs::remove_all(left, ignored);
}

TrainingFolder::~TrainingFolder() {
  lock_.reset();
  std::error_code ignored;
  if (made_ && paths_in(folder_).empty()) fs::remove(folder_, ignored);
}

std::string unfinished_checkpoint_path(const std::string& checkpoint) {
  const fs::path path = checkpoint;
  return (path.parent_path() / fmt::format(".{}{}", path.filename().string(), unfinished_suffix)).string();
}

}  // namespace headwise
