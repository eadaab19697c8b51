// Progress of long-running work. The caller chooses for its own thread where it is recorded; the work says
// which part of it is being done. Without that, nothing is recorded.
#pragma once

#include <atomic>

#include "core/tensor/shape.h"

namespace headwise {

// Written by the working thread, read by any.
class Progress {
 public:
  // 0 … 1, never falling.
  double fraction() const { return fraction_.load(std::memory_order_relaxed); }
  // What is currently computed, a name with static lifetime; "" before the first.
  const char* doing() const { return doing_.load(std::memory_order_relaxed); }
  // For the next piece of work, while none is running.
  void reset() {
    fraction_ = 0.0;
    doing_ = "";
  }

 private:
  friend class ProgressPart;
  std::atomic<double> fraction_ = 0.0;
  std::atomic<const char*> doing_ = "";
};

// During its lifetime, this thread's work is reported to `progress`, which must outlive it.
class ProgressScope {
 public:
  explicit ProgressScope(Progress& progress);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  friend class ProgressPart;
  Progress& progress_;
  ProgressScope* const outer_;
  double from_ = 0.0, to_ = 1.0;  // the range covered by the current part
};

// During its lifetime, this thread does the range from `from` to `to` (0 … 1) of the enclosing part. `doing`,
// a name with static lifetime, describes it; null: same as the enclosing part.
class ProgressPart {
 public:
  ProgressPart(double from, double to, const char* doing = nullptr);
  ~ProgressPart();
  ProgressPart(const ProgressPart&) = delete;
  ProgressPart& operator=(const ProgressPart&) = delete;

 private:
  ProgressScope* const scope_;  // null: nothing is recorded
  double outer_from_ = 0.0, outer_to_ = 0.0;
};

// The part of slice `which` of `count` equal slices.
inline ProgressPart slice_of_work(Index which, Index count) {
  return {static_cast<double>(which) / static_cast<double>(count),
          static_cast<double>(which + 1) / static_cast<double>(count)};
}

}  // namespace headwise
