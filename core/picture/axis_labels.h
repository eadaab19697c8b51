// The layout of the labels along an axis: slanted if they would collide, thinned if they would still not fit,
// shortened if one is very long.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// Ems from one line of labels to the next, at least.
constexpr double line_height = 1.12;

struct AxisLabel {
  Index index = 0;
  std::string text;  // as shown
};

struct AxisLabels {
  std::vector<AxisLabel> labels;
  double size = 0.0;     // font size (FontFace::sans), in pixels
  double degrees = 0.0;  // 0, or clockwise
  Index step = 1;        // every step-th cell is labelled
  double widest = 0.0;   // width of the widest text shown
};

// `texts` are the labels of the cells; missing ones are labelled by their index. `pitch` is a cell's side
// along the axis in pixels (> 0), `size` the font size.
AxisLabels row_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size);
AxisLabels column_axis_labels(const std::vector<std::string>& texts, Index count, double pitch, double size);

}  // namespace headwise
