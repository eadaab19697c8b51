// The heads' maps of an example that is never trained on, at the step where the training stands.
#pragma once

#include "app/panels/panel.h"
#include "app/training/training_view.h"

namespace headwise {

// The runs side by side. Returns the head whose map was pressed.
std::optional<TrainedHead> draw_training_heads(const PanelContext& context, const LiveTraining& training,
                                               TrainingViewState& state, const RectF& area);

}  // namespace headwise
