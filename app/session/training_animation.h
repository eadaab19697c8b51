// A training as an animated picture: its curve, and the maps of its heads at the steps that were measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/live_training.h"
#include "core/picture/image.h"
#include "core/picture/picture.h"
#include "core/train/training_run.h"

namespace headwise {

// What a head has come to do: where it looks much more than it did before it was trained.

enum class Habit { previous_token, induction, same_token, first_token };
inline constexpr int habit_count = 4;
std::string_view habit_name(Habit habit);        // "previous token"
std::string_view habit_short_name(Habit habit);  // "previous", where there is little room
// The mean weight that a head gives to what the habit names;
// none where no query of the examples has such a token.
std::optional<double> habit_of(const TrainedHabits& habits, Habit habit);

// A head has a habit if its mean weight there is at least this, and that much more than at the beginning:
// with few kinds of token, a head that looks everywhere alike gives much of its weight to the same token.
inline constexpr double habit_from = 0.3, habit_grown_by = 0.2;
bool has_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning, Habit habit);
// The strongest of those that it has; none if it has none.
std::optional<Habit> strongest_habit(const TrainedHabits& now, const TrainedHabits& at_the_beginning);

// "1.2": layer and head.
std::string trained_head_name(Index layer, Index head);

// (side,side): −inf where a causal mask blocks, what HeatmapSpec::mask takes.
TensorPtr blocked_above_diagonal(Index side);

// One moment of it. `point` is one of run.past; `title` stands above.
Picture training_picture(const WatchedRun& run, const TrainingPoint& point, const std::string& title,
                         Theme theme);

// At most `frames` moments, evenly spaced, the last one longer than the others. Throws Error(usage) if
// nothing was measured, Error(cancelled).
AnimatedPng training_animation(const WatchedRun& run, const std::string& title, Theme theme, int frames = 32);

}  // namespace headwise
