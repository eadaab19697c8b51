// Where tensors lie on the stage when each is shown next to its gradient: the step's result on top, its
// operands side by side below, as far as there is room. A function of shapes, measured text and the free
// rectangle alone. All lengths are pixels except where "units" is said; `scale` is pixels per unit.
#pragma once

#include <vector>

#include "app/content/stage_layout.h"

namespace headwise {

// One tensor and its gradient, of the same shape.
struct PairShape {
  Index rows = 0, cols = 0;  // both > 0
  // of the widest label; 0: none. Rows are labelled only to the left of the tensor
  double row_label_width = 0;
  double col_label_width = 0;
};

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
GradientLayout gradient_layout(const std::vector<PairShape>& shapes, RectF area, double scale);

}  // namespace headwise
