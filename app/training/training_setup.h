// "Set up": the task's sizes, the model and how it is trained, before a training begins.
#pragma once

#include "app/panels/panel.h"
#include "app/session/training_draft.h"

namespace headwise {

struct TrainingViewState;

struct TrainingSetupState {
  bool open = false;
  int number = -1;  // LiveTraining::number() of the training that the draft was begun from
  TrainingDraft draft;
};

enum class TrainingSetupWish { none, begin, close };

// Fills the area. Changes the draft, which begins as the watched training was set up, and nothing else.
TrainingSetupWish draw_training_setup(const PanelContext& context, const LiveTraining& training,
                                      TrainingSetupState& state, const RectF& area);

// "Change one thing and train it beside": the changes that the training allows, as buttons and as a list.
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
