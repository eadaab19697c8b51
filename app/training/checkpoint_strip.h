// While the window shows a model of a training: where in the training it stands, as a line to drag.
#pragma once

#include <optional>
#include <string>

#include "app/widgets/widget_context.h"
#include "core/picture/picture.h"

namespace headwise {

// Places are counted from 0: the steps of a training that is watched, or the checkpoints of one in a folder.
struct CheckpointStrip {
  std::string name;   // "induction"
  std::string place;  // "step 412 of 900"
  Index shown = 0, count = 1;
  bool watched = false;    // its training is in the training view
  bool goes_on = false;    // it has gone on there from these checkpoints
  bool can_go_on = false;  // it could
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
