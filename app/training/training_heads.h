// The heads' maps of an example that is never trained on, at the step where the training stands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"
#include "app/session/live_training.h"
#include "app/session/training_saving.h"
#include "app/training/training_view.h"
#include "app/widgets/painter.h"

namespace headwise {

// What each head has come to do: its strongest habit, measured on examples that it never trains on,
// over the steps.

Rgba8 color_of_habit(const Palette& palette, Habit habit);
// What a head has come to do at a point of a run that has habits.
std::optional<Habit> habit_at(const WatchedRun& run, const TrainingPoint& point, Index layer, Index head);

// A dot in its colour before each habit's name, as far as they fit before `right`, in pixels. With a tooltip.
void draw_habit_legend(const PanelContext& context, ImVec2 at, float right);
// How wide that is, in pixels.
float habit_legend_width(const PanelContext& context);

// Height of the rows of all heads where there is little room, in pixels.
double least_habits_height(const PanelContext& context, const TrainModelConfig& model);

// A row for each head of a run, over steps 0 … `steps`, in a region that scrolls.
void draw_training_habits(const PanelContext& context, const WatchedRun& run, const RectF& area, Index steps,
                          std::string& readout);

// The runs side by side. Returns the head whose map was pressed.
std::optional<TrainedHead> draw_training_heads(const PanelContext& context, const LiveTraining& training,
                                               TrainingViewState& state, const RectF& area);

// A text in a few lines.

// At most `most` ≥ 1 lines of at most `width` pixels, broken at blanks;
// what does not fit into the last one is cut, with “…”.
std::vector<std::string> wrapped_lines(const std::string& text, ImFont* font, float width, std::size_t most);

// Writes them below one another, and tells tests each. Returns how high they are, in pixels.
float write_lines(const Painter& paint, ImFont* font, ImVec2 at, const Ink& ink,
                  const std::vector<std::string>& lines);

}  // namespace headwise
