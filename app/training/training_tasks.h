// The list of tasks to train, with the trainings that one can go back to.
#pragma once

#include "app/training/training_view.h"
#include "app/widgets/widget_context.h"

namespace headwise {

// Draws the list as one ImGui item, and begins or goes back to what was chosen. Returns whether a file was asked for.
bool draw_training_tasks(const WidgetContext& widgets, LiveTraining& training, TrainingViewState& state);

}  // namespace headwise
