// The transition from one step's picture to the next, as a position in time.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/content/stage_content.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/rules.h"
#include "core/attention/steps.h"

namespace headwise {

// Duration of the transition into a step at speed 1.
inline constexpr double motion_seconds = 0.9;

struct MotionState {
  double progress = 1.0;  // of the current step: 0 still the step before it, 1 complete, nothing moves
  bool running = false;   // else it is paused where it is
};

// There is a transition only from `from` to the step right after it, to no other. `shown`: shown_steps.
void begin_motion(MotionState& motion, std::span<const Step> shown, Step from, Step to);
// Jumps to its end.
void skip_motion(MotionState& motion);
// `speed` > 0. True while it is still running.
bool advance_motion(MotionState& motion, double seconds, double speed);

// A position on the timeline of the shown steps, from 0: where Scores is the fourth, 3 is Scores complete,
// 2.4 is 4/10 of the way into Scores.
struct TimelinePlace {
  Step step = Step::inputs;
  double progress = 1.0;
};
double timeline_position(std::span<const Step> shown, Step step, double progress);
// The inverse; close to a step it snaps to that step.
TimelinePlace timeline_place(std::span<const Step> shown, double position);

// Slow at both ends; x in [0,1].
double eased(double x);
// How far x has come in [begin, end]: 0 before, 1 after.
double phase(double x, double begin, double end);

// What moves while a tensor is computed: read off the rule that it declares (rules.h), so that no
// step needs a motion of its own. Pure functions of the trace; positions on the screen are stage_motion's.

enum class Making {
  blocks,  // cells unchanged, in another place: split, join, copy
  // sums of products: each row of the left operand travels along the columns above and leaves its sums
  sweep,
  morph,   // a function of a single cell: its number changes in place
  fall,    // the mask falls onto the scores
  settle,  // the softmax: row maximum, exp, then the row settles to a sum of 1
};
Making making_of(const Rule& rule);

// Cells that move together: `from` in the tensor that the rule reads, `to` in its result.
struct MovingBlock {
  BoxRef from, to;
};
// The blocks of a result whose cells each come from one source cell, at one batch: one per head where heads
// are split or joined, else one. Together they cover the result exactly. Empty for any other kind of rule.
std::vector<MovingBlock> moving_blocks(const Trace& trace, const Rule& rule, Index batch);

// How far a sweep has come at t in [0,1]: rows before `row` are done, and in `row` the columns before
// `column`. The first row is slow enough to follow; the others complete row by row.
struct SweepFront {
  Index row = 0;
  double column = 0.0;
};
SweepFront sweep_front(double t, Index rows, Index cols);

// (1−t)·a + t·b, cell by cell, as a new tensor; infinities and NaN are taken from the nearer side. a and b
// have the same rows and columns.
TensorPtr between(const MatrixView& a, const MatrixView& b, double t);
// While `between` blends the colours, the cells show only real numbers: those of a up to t = ½, then those of
// b; they fade towards the middle. t in [0,1], opacity in [0,1].
struct WrittenNumbers {
  bool after = false;
  double opacity = 1.0;
};
WrittenNumbers written_numbers(double t);
// exp(x − row maximum): what the softmax divides. Blocked cells are 0.
TensorPtr row_exponentials(const MatrixView& masked_scores);

}  // namespace headwise
