// Where the parts of the training view lie, and the scales of its curves. All lengths are pixels; `scale` is pixels per design unit.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/picture/picture.h"

namespace headwise {

struct TrainingLayout {
  RectF choices;   // the task and how fast it goes: one row
  RectF sentence;  // what the task asks: one or two lines
  RectF plot;      // the curve, with its axis labels
  RectF habits;    // a line for each head, or what a change did
  RectF maps;      // with the line above them
  RectF told;      // one line: what the mouse is on
  RectF changes;   // change one thing: one row
  RectF timeline;  // the steps
};

// `sentence_lines`: 1 or 2.
TrainingLayout training_layout(const RectF& area, double scale, std::size_t sentence_lines = 1);

// The planes of the heads of one run: a row for each layer, a name above each plane.
struct TrainingMaps {
  double side = 0, name_height = 0, pitch_x = 0, pitch_y = 0;
  RectF area;
  Index heads = 0, per_row = 0, rows_per_layer = 0;

  RectF plane(Index layer, Index head) const;
};
TrainingMaps training_maps(const RectF& area, Index layers, Index heads, double scale);

// The end of an axis of steps: a round number that leaves room after the furthest step.
Index last_step_shown(Index reached);

// A curve with at most one value for each pixel column: the mean of the steps that fall into it. Step i lies at i/steps of the width.
struct CurvePoint {
  double step = 0.0, value = 0.0;
};
std::vector<CurvePoint> thinned_curve(const std::vector<CurvePoint>& curve, Index steps, int columns);

// Round values from 0 to at least `most`: 0, 1, 2, 3.
std::vector<double> axis_ticks(double most, int at_most);

}  // namespace headwise
