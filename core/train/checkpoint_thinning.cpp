#include "core/train/checkpoint_thinning.h"

#include <algorithm>
#include <filesystem>

#include "core/train/checkpoint.h"
#include "core/train/training_folder.h"
#include "core/train/training_history.h"

namespace headwise {

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
