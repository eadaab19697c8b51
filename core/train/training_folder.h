// The folder of a training while it is written, by one process at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/files/atomic_file.h"
#include "core/train/training_run.h"

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

// Keeps the number of a run's checkpoints bounded: ever fewer of them stay as the run grows, evenly spaced.

// The steps (ascending) that go when at most `most` ≥ 3 of them may stay. The first and the last stay; of the
// others those that are a multiple of a spacing away from the first, which begins as that of the first two
// and doubles until few enough are left.
std::vector<Index> steps_to_drop(std::span<const Index> steps, Index most);

// Removes checkpoints of a folder in that way. One that is being removed is no checkpoint any more:
// none is ever half there.
void thin_out_checkpoints(const std::string& folder, Index most);

// Bytes of the arrays in one checkpoint of such a run, of numbers with `value_bytes` bytes.
Index checkpoint_bytes(const TrainingSettings& settings, Index value_bytes);

}  // namespace headwise
