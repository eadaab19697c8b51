// The steps of a training as a line to stand on: play, pause, one step, back.
#pragma once

#include "app/panels/panel.h"
#include "app/training/training_view.h"

namespace headwise {

enum class TimelineMove { none, play_or_pause, step, back, first, last };

// Draws it over steps 0 … `steps`. What was pressed; where the thumb is held stands in state.target.
TimelineMove draw_training_timeline(const PanelContext& context, const LiveTraining& training,
                                    TrainingViewState& state, const RectF& area, Index steps);
// What the keys ask for, while no control keeps them: Space, ←, →, Home, End.
TimelineMove timeline_keys(const PanelContext& context);

}  // namespace headwise
