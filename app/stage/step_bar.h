// The ten steps in a row: where we are, what has been, what comes.
#pragma once

#include "app/panels/panel.h"

namespace headwise {

struct StepBarState {
  bool playing = false;  // set by the window, shown here
};

// A click on a step looks at it; ◀ ▶ and play come back as commands.
PanelAction draw_step_bar(const PanelContext& context, StepBarState& state);

}  // namespace headwise
