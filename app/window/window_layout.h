// Where the panels lie in the window. A function of its size, so that it is tested without one.
#pragma once

#include <optional>

#include "core/export/picture.h"

namespace headwise {

// The panels around the stage.
enum class SidePanel { setup, inspector, graph, filmstrip };

// Pixels; sizes are never negative. A panel that has no room is 0 × 0 and is not drawn.
struct WindowLayout {
  RectF menu, steps, training, filmstrip, setup, stage, inspector, graph, caption, notes, status;
  // Strips at the edges with a tab for each panel that has no room of its own; 0 × 0 where there is none.
  // Where the graph alone has none, its tab lies in the status line.
  RectF left_tabs, right_tabs, graph_tab;
  // Which panels those are
  bool folds_setup = false, folds_inspector = false, folds_graph = false, folds_filmstrip = false;
  bool small = false;  // the panels around the stage are smaller than usual
};

struct LayoutWishes {
  bool stage_only = false;  // only the steps, the stage and a caption
  // For a hall: the stage fills the window, a caption stands left of it, and the steps lie over its top, but
  // not over the caption's, while `steps_over`.
  bool presentation = false, steps_over = false;
  double caption_height = 0.0;  // pixels; a caption replaces the graph
  bool writes_caption = false;  // it holds the fields that it is written in, which need the whole width
  std::optional<SidePanel> unfolded = {};  // of those without room of their own: shown all the same
  bool training = false;   // a line below the steps: where in a training the model stands; never in a hall
  bool filmstrip = false;  // at the left edge, if there is room; never beside the stage alone
  bool notes = false;      // the presenter's, as a strip below all but the status
};

// Pixels per design unit at which the stage alone fills such a window with type legible from the back of the
// room; at least `least`, and a multiple of 1/8 so that fonts are not rebuilt for every pixel while a window
// is resized.
double stage_only_scale(double width, double height, double least);

// `scale`: pixels per design unit. The status line is at the bottom of every window at least 320 units high.
// Proportions are those of 1600 × 1000 units: setup 256 wide, inspector 384, graph 112 high; below 1400 units
// of width and 800 of height, margins, menu, steps and graph are smaller. A caption takes at most 45 % of the
// height; in a window less than 440 units high it stands left of the stage instead. Narrower windows and
// larger type give the side panels less. If the stage would keep less than 360 units of width (450 below 800
// of height), setup folds into a tab at the edge, and then the inspector; below 640 units of height the graph
// does. The one that is unfolded stands beside the stage, or in its place where that would keep less than 300
// units of width or 170 of height.
WindowLayout window_layout(double width, double height, double scale, const LayoutWishes& wishes = {});

// The pixels of the width that a filmstrip beside the stage takes; 0 in a window where it folds.
double filmstrip_room(double width, double scale);

// Where notices appear: over the end of the graph or, without it, of the inspector, which hide less there
// than they would of a map; over the stage where there is neither.
const RectF& area_of_notices(const WindowLayout& layout);

}  // namespace headwise
