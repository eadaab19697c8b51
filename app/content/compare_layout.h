// Where the maps of a comparison lie: the other side, the present one and, where both have the same shape,
// their difference; side by side, or stacked where that makes the cells larger. A function of shapes,
// measured text and the free rectangle alone. All lengths are pixels except where "units" is said;
// `scale` is pixels per unit.
#pragma once

#include <vector>

#include "app/content/stage_layout.h"

namespace headwise {

struct CompareShape {
  Index rows = 0, cols = 0;    // both > 0
  double row_label_width = 0;  // of the widest label; 0: none
  double col_label_width = 0;
};

struct ComparePlace {
  RectF map;
  bool row_labels = false, col_labels = false, slanted = false;
};

struct CompareLayout {
  std::vector<ComparePlace> places;  // one per shape, in order; none if there is no room
  bool stacked = false;
  RectF bar, difference_bar;  // the colour strips; height 0 if there is no room for them
};

// Two or three shapes; three have the same rows and columns, and then labels are drawn once.
CompareLayout compare_layout(const std::vector<CompareShape>& shapes, RectF area, double scale);

}  // namespace headwise
