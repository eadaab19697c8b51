// How far long work has come. Whoever starts it says for its own thread where that is written down; the work says which
// part of it is being done. Where nobody asks, nothing is written.
#pragma once

#include <atomic>

#include "core/tensor/shape.h"

namespace headwise {

// Written by the thread that works, read by any.
class Progress {
 public:
  // 0 … 1, never falling.
  double fraction() const { return fraction_.load(std::memory_order_relaxed); }
  // What is being made now, a name that lives as long as the program; "" before the first.
  const char* doing() const { return doing_.load(std::memory_order_relaxed); }
  // For the next piece of work, while nobody works.
  void reset() {
    fraction_ = 0.0;
    doing_ = "";
  }

 private:
  friend class ProgressPart;
  std::atomic<double> fraction_ = 0.0;
  std::atomic<const char*> doing_ = "";
};

// While it lives, the parts of the work of this thread are told to `progress`, which must outlive it.
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
  double from_ = 0.0, to_ = 1.0;  // what the part that is being done covers
};

// While it lives, this thread does what lies between `from` and `to` (0 … 1) of the part around it. `doing`, a name that
// lives as long as the program, says what; null: as the part around it.
class ProgressPart {
 public:
  ProgressPart(double from, double to, const char* doing = nullptr);
  ~ProgressPart();
  ProgressPart(const ProgressPart&) = delete;
  ProgressPart& operator=(const ProgressPart&) = delete;

 private:
  ProgressScope* const scope_;  // null: nobody asks
  double outer_from_ = 0.0, outer_to_ = 0.0;
};

// The part of slice `which` of `count` equal ones.
inline ProgressPart slice_of_work(Index which, Index count) {
  return {static_cast<double>(which) / static_cast<double>(count),
          static_cast<double>(which + 1) / static_cast<double>(count)};
}

}  // namespace headwise
