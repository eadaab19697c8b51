// The curve of one or two trainings over their steps.
#pragma once

#include <optional>
#include <string>

#include "app/panels/panel.h"
#include "app/training/training_view.h"
#include "core/export/picture.h"

namespace headwise {

// In the rectangle, over steps 0 … `steps`. A click or a drag in it leads to that step.
void draw_training_plot(const PanelContext& context, const LiveTraining& training, TrainingViewState& state,
                        const RectF& area, Index steps);

// What a run is told apart by, with its label.
Rgba8 color_of_run(const Palette& palette, std::size_t run);
std::string label_of_run(const WatchedRun& run);

// The steps of a training as a line to stand on: play, pause, one step, back.
enum class TimelineMove { none, play_or_pause, step, back, first, last };

// Draws it over steps 0 … `steps`. What was pressed; where the thumb is held stands in state.target.
TimelineMove draw_training_timeline(const PanelContext& context, const LiveTraining& training,
                                    TrainingViewState& state, const RectF& area, Index steps);
// What the keys ask for, while no control keeps them: Space, ←, →, Home, End.
TimelineMove timeline_keys(const PanelContext& context);

// While the window shows a model of a training: where in the training it stands, as a line to drag.

// Places are counted from 0: the steps of a training that is watched, or the checkpoints of one in a folder.
struct CheckpointStrip {
  std::string name;   // "induction"
  std::string place;  // "step 412 of 900"
  Index shown = 0, count = 1;
  bool watched = false;    // its training is in the training view
  bool resumed = false;    // it has gone on there from these checkpoints
  bool resumable = false;  // it could
  std::size_t page = 0;    // the page of a playlist that it was looked into from, counted from 1; 0: none
};

struct CheckpointStripAction {
  std::optional<Index> place;  // to show
  bool held = false;           // the drag is still under way
  bool to_training = false;    // open the training view
  bool to_page = false;        // back to the page
};

CheckpointStripAction draw_checkpoint_strip(const WidgetContext& widgets, const CheckpointStrip& strip,
                                            const RectF& area);

}  // namespace headwise
