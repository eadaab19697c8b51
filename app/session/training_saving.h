// What a watched training is saved as.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session/live_training.h"

namespace headwise {

// In the order of a menu.
enum class TrainingForm { folder, picture, program, pages };
inline constexpr int training_form_count = 4;
struct TrainingFormEntry {
  std::string_view name;    // "a folder of checkpoints"
  std::string_view ending;  // of the file: ".png"; empty: a folder
};
const TrainingFormEntry& training_form_entry(TrainingForm form);

// At most `count` of the steps, evenly spaced, with the first and the last.
std::vector<Index> spread_steps(const std::vector<Index>& steps, std::size_t count);

// At most `count` of the steps, ascending, with the first and the last: close together where the loss changes
// much, and never far apart.
std::vector<Index> telling_steps(const std::vector<Index>& steps, const WatchedRun& run, std::size_t count);

// The pages of a lesson: the model at each of these checkpoints, all heads side by side of the layer that has
// the strongest habit at the end, or the last one. `run` gives the words.
// Throws Error(output), Error(input).
void write_training_pages(const std::string& path, const std::vector<std::string>& checkpoints,
                          const WatchedRun& run, const std::string& task);

}  // namespace headwise
