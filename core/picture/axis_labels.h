// Where the labels of the cells along an axis stand: slanted where they would collide, thinned where they
// would not fit even so, shortened where one is very long.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// Ems from one line of labels to the next, at least.
constexpr double line_height = 1.12;

struct AxisLabel {
  Index index = 0;
  std::string text;  // as it is shown
};

struct AxisLabels {
  std::vector<AxisLabel> labels;
  double size = 0.0;     // of the type (FontFace::sans), in pixels
  double degrees = 0.0;  // 0, or clockwise
  Index step = 1;        // every step-th cell is labelled
  double widest = 0.0;   // width of the widest text shown
};

// `texts` names the cells; missing ones are named by their index. `pitch` is a cell's side along the axis in
// pixels (> 0), `size` the type's.
AxisLabels row_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size);
AxisLabels column_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size);

}  // namespace headwise
