// A number between two ends, set by dragging: the result follows the mouse.
#pragma once

#include "app/widgets/widget_context.h"

namespace headwise {

struct SliderOptions {
  double least = 0.0, most = 1.0;
  double step = 0.1;     // for the arrow keys; 10 times that with Page Up and Page Down
  int stops = 0;         // more than 1: this many evenly spaced positions, and nothing in between
  double normal = 1.0;   // value restored by a double click; marked with a tick
  float width = 100.0f;  // pixels
  bool enabled = true;   // false: shows its value, dim
};

struct SliderResult {
  bool changed = false;
  bool held = false;  // the drag is still under way: this edit continues
};

// Draws it as one ImGui item with the height of a row's control. Changed by dragging, a click, a double click
// and, with the focus, ← → Home End Page Up Page Down.
SliderResult slider(const WidgetContext& context, const char* id, double& value, const SliderOptions& options);

}  // namespace headwise
