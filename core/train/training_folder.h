// The folder of a training while it is written, by one process at a time.
#pragma once

#include <string>

#include "core/files/file_lock.h"

namespace headwise {

class TrainingFolder {
 public:
  // Creates the folder if it is missing, locks it until the end of the scope or of the process, and removes
  // checkpoints that a training which was killed has left unfinished. Throws Error(output) if another
  // training is being written there.
  explicit TrainingFolder(const std::string& folder);
  // Removes the folder if this made it and nothing was written.
  ~TrainingFolder();
  TrainingFolder(const TrainingFolder&) = delete;
  TrainingFolder& operator=(const TrainingFolder&) = delete;

  // The name of the lock in it.
  static constexpr const char* lock_name = ".headwise-training.lock";

 private:
  std::string folder_;
  bool made_ = false;
  std::optional<FileLock> lock_;
};

// Where a checkpoint is written before it is renamed, and where it goes before it is removed.
std::string unfinished_checkpoint_path(const std::string& checkpoint);

}  // namespace headwise
