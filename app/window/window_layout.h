// Where the panels stand in the window. A function of its size, so that it is tested without one.
#pragma once

#include "core/picture/picture.h"

namespace headwise {

// Pixels; sizes are never negative. A panel that has no room is 0 × 0 and is not drawn.
struct WindowLayout {
  RectF menu, steps, setup, stage, inspector, graph, caption, status;
  bool small = false;  // what surrounds the stage is smaller than usual
};

struct LayoutWishes {
  bool stage_only = false;      // the steps, the stage and a caption, and nothing else
  double caption_height = 0.0;  // pixels; with a caption the graph gives way to it
};

// Pixels per design unit at which the stage alone fills such a window with type that is read from the last row; at least
// `least`, and in whole eighths so that fonts are not drawn anew at each pixel of a window that is being resized.
double stage_only_scale(double width, double height, double least);

// `scale`: pixels per design unit. The status line stands at the foot of every window of 320 units of height or more.
// Proportions are those of 1600 × 1000 units: setup 256 wide, inspector 384, graph 112
// high; below 1400 units of width and 800 of height margins, menu, steps and graph are smaller. A caption takes at most 45 hundredths of the height. Narrower windows, and larger type, give the side panels less; where the stage would keep less than 360 units of
// width the inspector goes, then the setup, and below 560 units of height the graph.
WindowLayout window_layout(double width, double height, double scale, const LayoutWishes& wishes = {});

}  // namespace headwise
