// The ten steps in a row: the current one, the ones before and those to come.
#pragma once

#include "app/panels/panel.h"

namespace headwise {

struct StepBarState {
  bool playing = false;  // set by the window, shown here
  float speed = 1.0f;    // of the motion, 1 is normal; set by the window, and by the slider
};

// A click on a step goes to it; ◀ ▶ and play are returned as commands.
PanelAction draw_step_bar(const PanelContext& context, StepBarState& state);

}  // namespace headwise
