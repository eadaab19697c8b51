// The curve of one or two trainings over their steps.
#pragma once

#include "app/panels/panel.h"
#include "app/training/training_view.h"

namespace headwise {

// In the rectangle, over steps 0 … `steps`. A click or a drag in it leads to that step.
void draw_training_plot(const PanelContext& context, const LiveTraining& training, TrainingViewState& state,
                        const RectF& area, Index steps);

// What a run is told apart by, with its label.
Rgba8 color_of_run(const Palette& palette, std::size_t run);
std::string label_of_run(const WatchedRun& run);

}  // namespace headwise
