// Where tensors lie on the stage when each stands beside its gradient: the step's result above, its operands side by side
// below, as far as there is room. A function of shapes, measured text and the free rectangle alone. All lengths are
// pixels except where "units" is said; `scale` is pixels per unit.
#pragma once

#include <vector>

#include "app/content/stage_layout.h"

namespace headwise {

// One tensor and its gradient, of the same shape.
struct PairShape {
  Index rows = 0, cols = 0;    // both > 0
  double row_label_width = 0;  // of the widest label; 0: none. Rows are labelled left of the tensor only
  double col_label_width = 0;
};

struct PairPlace {
  RectF value, gradient;
  bool col_labels = true;  // operands go without where rows are low: the result's are the same or in reach
  bool slanted = false;    // labels under both
  RectF value_bar, gradient_bar;  // the strips of colour; height 0 where there is no room for them
};

struct GradientLayout {
  std::vector<PairPlace> pairs;  // the first of those asked for; fewer where the rest has no room
};

// The result first. No pairs where not even that has room.
GradientLayout gradient_layout(const std::vector<PairShape>& shapes, RectF area, double scale);

}  // namespace headwise
