// The ways to another step, around the stage: the ten steps in a row, the current one, the ones before and
// those to come; and the graph of the tensors of a run.
#pragma once

#include "app/panels/panel.h"

namespace headwise {

struct StepBarState {
  bool playing = false;  // set by the window, shown here
  float speed = 1.0f;    // of the motion, 1 is normal; set by the window, and by the slider
};

// A click on a step goes to it; ◀ ▶ and play are returned as commands.
PanelAction draw_step_bar(const PanelContext& context, StepBarState& state);

struct GraphState {
  float scroll = 0.0f;  // pixels, where the graph is wider than the window
};

// Fills the current ImGui window.
PanelAction draw_graph(const PanelContext& context, GraphState& state);

}  // namespace headwise
