// Where maps lie that are shown beside what they are compared with: another scenario's, or their gradients.
// Functions of shapes, measured text and the free rectangle alone. All lengths are pixels except where
// "units" is said; `scale` is pixels per unit.
#pragma once

#include <vector>

#include "app/content/stage_layout.h"

namespace headwise {

// A map with its labels.
struct LabelledShape {
  Index rows = 0, cols = 0;    // both > 0
  double row_label_width = 0;  // of the widest label; 0: none
  double col_label_width = 0;
};

// The other side, the present one and, where both have the same shape, their difference; side by side, or
// stacked where that makes the cells larger.

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
CompareLayout compare_layout(const std::vector<LabelledShape>& shapes, RectF area, double scale);

// The step's result on top, its operands side by side below, each next to its gradient, as far as there is
// room.

// Rows are labelled only to the left of the tensor.
struct PairPlace {
  RectF value, gradient;
  bool col_labels = true;  // operands have none where rows are low: the result's are the same or close by
  bool slanted = false;    // labels under both
  RectF value_bar, gradient_bar;  // the colour strips; height 0 if there is no room for them
};

struct GradientLayout {
  std::vector<PairPlace> pairs;  // the first of those requested; fewer if the rest does not fit
};

// The result first. Empty if not even that fits.
GradientLayout gradient_layout(const std::vector<LabelledShape>& shapes, RectF area, double scale);

}  // namespace headwise
