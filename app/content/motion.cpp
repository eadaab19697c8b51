#include "app/content/motion.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

constexpr double snapping = 0.04;  // of a step

}  // namespace

void begin_motion(MotionState& motion, Step from, Step to) {
  const bool next = static_cast<int>(to) == static_cast<int>(from) + 1;
  motion.progress = next ? 0.0 : 1.0;
  motion.running = next;
}

void skip_motion(MotionState& motion) {
  motion.progress = 1.0;
  motion.running = false;
}

bool advance_motion(MotionState& motion, double seconds, double speed) {
  if (!motion.running) return false;
  motion.progress += seconds * speed / motion_seconds;
  if (motion.progress >= 1.0) skip_motion(motion);
  return motion.running;
}

double timeline_position(Step step, double progress) {
  return std::max(0.0, static_cast<double>(step) - 1.0 + progress);
}

TimelinePlace timeline_place(double position) {
  const double inside = std::clamp(position, 0.0, static_cast<double>(step_count - 1));
  const double nearest = std::round(inside);
  if (std::abs(inside - nearest) < snapping) return {static_cast<Step>(static_cast<int>(nearest)), 1.0};
  const double into = std::ceil(inside);
  return {static_cast<Step>(static_cast<int>(into)), inside - (into - 1.0)};
}

double eased(double x) {
  const double inside = std::clamp(x, 0.0, 1.0);
  return inside * inside * (3.0 - 2.0 * inside);
}

double phase(double x, double begin, double end) {
  return std::clamp((x - begin) / (end - begin), 0.0, 1.0);
}

}  // namespace headwise
