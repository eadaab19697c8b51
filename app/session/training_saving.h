// What a watched training is saved as: checkpoints, a program, pages of a lesson, an animated picture; and
// the habits of heads that it shows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/live_training.h"
#include "core/export/image.h"
#include "core/export/picture.h"
#include "core/train/training_run.h"

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
std::vector<Index> salient_steps(const std::vector<Index>& steps, const WatchedRun& run, std::size_t count);

// The pages of a lesson: the model at each of these checkpoints, all heads side by side of the layer that has
// the strongest habit at the end, or the last one. `run` gives the words.
// Throws Error(output), Error(input).
void write_training_pages(const std::string& path, const std::vector<std::string>& checkpoints,
                          const WatchedRun& run, const std::string& task);

// A training as an animated picture: its curve, and the maps of its heads at the steps that were measured.

// What a head has come to do: where it looks much more than it did before it was trained.
enum class Habit { previous_token, induction, same_token, first_token };
inline constexpr int habit_count = 4;
std::string_view habit_name(Habit habit);        // "previous token"
std::string_view habit_short_name(Habit habit);  // "previous", where there is little room
// The mean weight that a head gives to what the habit names;
// none where no query of the examples has such a token.
std::optional<double> habit_of(const TrainedHabits& habits, Habit habit);

// By core/train's is_habit.
bool has_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning, Habit habit);
// The strongest of those that it has; none if it has none.
std::optional<Habit> strongest_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning);

// "1.2": layer and head.
std::string trained_head_name(Index layer, Index head);

// (side,side): −inf where a token does not see another, what HeatmapSpec::mask takes; null: it sees all.
TensorPtr hidden_from_tokens(const TrainModelConfig& model, Index side);
// The map of a head of a layer's (1,H,L,L); `bias`: as above, or null.
HeatmapSpec trained_map(const TensorPtr& maps, Index head, const TensorPtr& bias, Theme theme);

// One moment of it. `point` is one of run.past; `title` stands above.
Picture training_picture(const WatchedRun& run, const TrainingPoint& point, const std::string& title,
                         Theme theme);

// At most `frames` moments, evenly spaced, the last one longer than the others. Throws Error(usage) if
// nothing was measured, Error(cancelled).
AnimatedPng training_animation(const WatchedRun& run, const std::string& title, Theme theme, int frames = 32);

}  // namespace headwise
