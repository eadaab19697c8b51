#include "core/gpu/gpu_rate.h"

#include <algorithm>

namespace headwise {
namespace {

// A guess below any GPU, and about that of one thread of a software driver: used until something has been measured.
constexpr double first_speed = 1e6;
// Shorter times are those of launching.
constexpr double least_milliseconds = 0.01;
// Of what was measured before. Where a piece may have begun beside the one before, only several together tell how long they take.
constexpr double kept_alone = 0.5, kept_behind_another = 0.8;
// Of the throughput from one piece to the next: a clock may be coarse.
constexpr double most_growth = 4.0;

}  // namespace

double GpuRate::throughput() const {
  return measured_ ? throughput_ : first_speed;
}

double GpuRate::speed() const {
  return measured_ ? speed_ : first_speed;
}

double GpuRate::processors() const {
  return std::max(1.0, throughput() / speed());
}

void GpuRate::measure(const Sample& sample, double milliseconds) {
  // A clock that does not tick says nothing.
  if (milliseconds <= 0.0 || sample.work <= 0.0) return;
  const double group_speed = sample.largest_group / std::max(milliseconds, least_milliseconds);
  if (sample.alone && sample.one_unit && wants_group(sample.largest_group)) {
    speed_ = group_speed;
    timed_group_ = sample.largest_group;
  } else if (sample.alone || !measured_) {
    speed_ = std::max(speed_, group_speed);
  }
  const double kept = sample.goes_on ? kept_behind_another : kept_alone;
  work_ = kept * work_ + sample.work;
  time_ = kept * time_ + milliseconds;
  const double now = work_ / std::max(time_, least_milliseconds);
  throughput_ = measured_ ? std::min(now, most_growth * throughput_) : now;
  measured_ = true;
}

}  // namespace headwise
