// Where the parts of the training view lie, and the scales of its curves. All lengths are pixels;
// `scale` is pixels per design unit.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/export/picture.h"

namespace headwise {

struct TrainingLayout {
  RectF choices;   // the task and how fast it goes: one row
  RectF sentence;  // what the task asks: one or two lines
  RectF plot;      // the curve, with its axis labels
  RectF habits;    // a line for each head, or what a change did
  RectF maps;      // with the line above them
  RectF readout;   // one line: what the mouse is on
  RectF changes;   // change one thing: one row
  RectF timeline;  // the steps
};

// What the parts have to hold.
struct TrainingParts {
  std::size_t sentence_lines = 1;         // 1 or 2
  Index layers = 1, heads = 1, runs = 1;  // of the model; beside each other
  double beside = 0;  // height that the lines of the heads, or words, need beside the plot, in pixels
  bool maps = true;   // below the plot; otherwise what takes all the height that it can get
};

// The plot is as high as what stands beside it needs, as far as the maps can still be read,
// and takes what the maps leave.
TrainingLayout training_layout(const RectF& area, double scale, const TrainingParts& parts = {});

// Of the maps of one of several runs, side by side.
RectF training_run_area(const RectF& maps, Index run, Index runs, double scale);

// Of the example above the maps of a run that is alone, at most.
std::size_t training_example_lines(double maps_height, double scale);

// In how many columns the lines of the heads stand, and in how many rows.
struct HabitGrid {
  Index columns, rows;
};
HabitGrid habit_grid(Index layers, Index heads);

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

// A curve with at most one value for each pixel column: the mean of the steps that fall into it.
// Step i lies at i/steps of the width.
struct CurvePoint {
  double step = 0.0, value = 0.0;
};
std::vector<CurvePoint> thinned_curve(const std::vector<CurvePoint>& curve, Index steps, int columns);

// Round values from 0 to at least `most`: 0, 1, 2, 3.
std::vector<double> axis_ticks(double most, int at_most);

}  // namespace headwise
