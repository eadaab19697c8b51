// What each head has come to do: its strongest habit, measured on examples that it never trains on, over the steps.
#pragma once

#include <string>
#include <string_view>

#include "app/panels/panel.h"
#include "app/session/live_training.h"

namespace headwise {

enum class Habit { previous_token, induction, same_token, first_token };
inline constexpr int habit_count = 4;
std::string_view habit_name(Habit habit);
Rgba8 color_of_habit(const Palette& palette, Habit habit);
// The mean weight that a head gives to what the habit names; none where no query of the examples has such a token.
std::optional<double> habit_of(const TrainedHabits& habits, Habit habit);

// A head has a habit if its mean weight there is at least this.
inline constexpr double habit_from = 0.4;
// The strongest one; none below habit_from.
std::optional<Habit> strongest_habit(const TrainedHabits& habits);

// "1.2": layer and head.
std::string trained_head_name(Index layer, Index head);

// A row for each head of a run, over steps 0 … `steps`, in a region that scrolls.
void draw_training_habits(const PanelContext& context, const WatchedRun& run, const RectF& area, Index steps,
                          std::string& told);

}  // namespace headwise
