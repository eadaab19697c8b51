// From the training view to the window: the model of a step, opened like any other.
#pragma once

#include "app/training/training_view.h"

namespace headwise {

struct WindowState;

// Writes the model of the step where the run stands as a checkpoint, and opens it at this head, on the example that the training view
// shows. A notice says why where that fails; the training view then stays.
void look_inside(WindowState& window, const TrainedHead& head);

}  // namespace headwise
