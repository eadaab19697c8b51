// The tensors and what flows between them, along the bottom: a click shows the step that computes a tensor.
#pragma once

#include "app/panels/panel.h"

namespace headwise {

struct GraphState {
  float scroll = 0.0f;  // pixels, where the graph is wider than the window
};

// Fills the current ImGui window.
PanelAction draw_graph(const PanelContext& context, GraphState& state);

}  // namespace headwise
