#include "core/train/training_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/files/file_paths.h"
#include "core/tensor/error.h"
#include "core/train/checkpoint.h"
#include "core/train/training_history.h"

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

std::vector<Index> steps_to_drop(std::span<const Index> steps, Index most) {
  if (std::ssize(steps) <= most || steps.size() < 3) return {};
  const Index first = steps.front(), last = steps.back();
  for (Index spacing = steps[1] - first;; spacing *= 2) {
    std::vector<Index> dropped;
    for (const Index step : steps.subspan(1, steps.size() - 2))
      if ((step - first) % spacing != 0) dropped.push_back(step);
    if (std::ssize(steps) - std::ssize(dropped) <= most || spacing > (last - first) / 2) return dropped;
  }
}

void thin_out_checkpoints(const std::string& folder, Index most) {
  namespace fs = std::filesystem;
  for (const Index step : steps_to_drop(checkpoint_steps(folder), most)) {
    const fs::path path = checkpoint_path(folder, step);
    // Under the name of a checkpoint in progress, which the next training here would remove.
    const fs::path going = unfinished_checkpoint_path(path.string());
    std::error_code error;
    fs::rename(path, going, error);
    if (!error) fs::remove_all(going, error);
  }
}

Index checkpoint_bytes(const TrainingSettings& settings, Index value_bytes) {
  return TrainingHistory<float>::bytes(settings, 1) / static_cast<Index>(sizeof(float)) * value_bytes;
}

}  // namespace headwise
