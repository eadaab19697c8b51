// "Change one thing and train it beside": the changes that the training allows, as buttons and as a list.
#pragma once

#include "app/panels/panel.h"
#include "app/training/training_view.h"

namespace headwise {

struct ChangesRowAction {
  std::optional<TrainingChange> begin;
  bool end = false;  // train the first one alone again
};

ChangesRowAction draw_training_changes(const PanelContext& context, const LiveTraining& training,
                                       TrainingViewState& state, const RectF& area);

// What the change did, as text that scrolls; a sentence that says when it will be said,
// where it is not known yet.
void draw_change_answer(const PanelContext& context, const LiveTraining& training, const RectF& area);

// How high that is in a region of that width, in pixels; 0 where it is not known yet.
float change_answer_height(const PanelContext& context, const LiveTraining& training, float width);

}  // namespace headwise
