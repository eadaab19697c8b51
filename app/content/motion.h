// The transition from one step's picture to the next, as a position in time.
#pragma once

#include <optional>

#include "core/trace/steps.h"

namespace headwise {

// Duration of the transition into a step at speed 1.
inline constexpr double motion_seconds = 0.9;

struct MotionState {
  double progress = 1.0;  // of the current step: 0 still the step before it, 1 complete, nothing moves
  bool running = false;   // else it is paused where it is
};

// There is a transition only from `from` to the step right after it, to no other.
void begin_motion(MotionState& motion, Step from, Step to);
// Jumps to its end.
void skip_motion(MotionState& motion);
// `speed` > 0. True while it is still running.
bool advance_motion(MotionState& motion, double seconds, double speed);

// A position on the timeline of all steps, 0 … step_count − 1: 3 is Scores complete, 2.4 is 4/10 of the way into Scores.
struct TimelinePlace {
  Step step = Step::inputs;
  double progress = 1.0;
};
double timeline_position(Step step, double progress);
// The inverse; close to a step it snaps to that step.
TimelinePlace timeline_place(double position);

// Slow at both ends; x in [0,1].
double eased(double x);
// How far x has come in [begin, end]: 0 before, 1 after.
double phase(double x, double begin, double end);

}  // namespace headwise
