// A number between two ends, dragged: the answer follows the mouse.
#pragma once

#include "app/widgets/widget_context.h"

namespace headwise {

struct SliderOptions {
  double least = 0.0, most = 1.0;
  double step = 0.1;     // of the arrow keys; 10 times that with Page Up and Page Down
  int stops = 0;         // more than 1: so many places, evenly apart, and nothing between them
  double normal = 1.0;   // what a double click goes back to; a tick stands there
  float width = 100.0f;  // pixels
};

struct SliderResult {
  bool changed = false;
  bool held = false;  // the drag is still under way: this edit goes on
};

// Draws it as one ImGui item of the height of a row's control. Changed by dragging, by a click, by a double click
// and, with the focus, by ← → Home End Page Up Page Down.
SliderResult slider(const WidgetContext& context, const char* id, double& value, const SliderOptions& options);

}  // namespace headwise
