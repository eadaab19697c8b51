// "Set up": the task's sizes, the model and how it is trained, before a training begins.
#pragma once

#include "app/panels/panel.h"
#include "app/session/training_draft.h"

namespace headwise {

struct TrainingSetupState {
  bool open = false;
  int number = -1;  // LiveTraining::number() of the training that the draft was begun from
  TrainingDraft draft;
};

enum class TrainingSetupWish { none, begin, close };

// Fills the area. Changes the draft, which begins as the watched training was set up, and nothing else.
TrainingSetupWish draw_training_setup(const PanelContext& context, const LiveTraining& training,
                                      TrainingSetupState& state, const RectF& area);

}  // namespace headwise
