// Where the maps of a comparison lie: the other side, the present one and, where both have the same shape, their
// difference; beside each other or, where cells are larger so, under each other. A function of shapes, measured text and the free
// rectangle alone. All lengths are pixels except where "units" is said; `scale` is pixels per unit.
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
  std::vector<ComparePlace> places;  // one for each shape, in their order; none where there is no room
  bool stacked = false;
  RectF bar, difference_bar;  // the strips of colour; height 0 where there is no room for them
};

// Two or three shapes; three are of the same rows and columns, and then labels stand once.
CompareLayout compare_layout(const std::vector<CompareShape>& shapes, RectF area, double scale);

}  // namespace headwise
