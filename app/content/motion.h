// The way from one step's picture to the next one's, as a place in time.
#pragma once

#include <optional>

#include "core/trace/steps.h"

namespace headwise {

// How long a step takes to be made at speed 1.
inline constexpr double motion_seconds = 0.9;

struct MotionState {
  double progress = 1.0;  // of the step that is looked at: 0 what was before it, 1 made, and nothing moves
  bool running = false;   // else it is held where it is
};

// From `from` to the step behind it there is a motion; to any other there is none.
void begin_motion(MotionState& motion, Step from, Step to);
// At once at its end.
void skip_motion(MotionState& motion);
// `speed` > 0. True while it still runs.
bool advance_motion(MotionState& motion, double seconds, double speed);

// A place on the line of all steps, 0 … step_count − 1: 3 is Scores made, 2.4 is 4/10 of the way into Scores.
struct TimelinePlace {
  Step step = Step::inputs;
  double progress = 1.0;
};
double timeline_position(Step step, double progress);
// The other way round; close to a step it is that step.
TimelinePlace timeline_place(double position);

// Slow at both ends; x in [0,1].
double eased(double x);
// How far x has come in [begin, end]: 0 before, 1 behind.
double phase(double x, double begin, double end);

}  // namespace headwise
