// Splits GPU work into slices of a few milliseconds, so that a window keeps its frame rate and no driver
// assumes that the GPU hangs. How much fits in a slice is measured along the way.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/gpu/gpu_queue.h"
#include "core/tensor/shape.h"

namespace headwise {

// How fast a GPU does one kind of work, learned from the times of its pieces.

// Work is counted in multiply-adds, or what is taken for one. A piece of n work groups on P processors that
// each do `speed` takes about ⌈n/P⌉ · (work of a group) / speed. P is not told by OpenGL: it is found by
// handing over more and more groups while the time does not grow in proportion.
class GpuRate {
 public:
  bool measured() const { return measured_; }
  // Per millisecond, what the whole GPU has been seen to do: for more work than was measured,
  // the time grows at most in proportion.
  double throughput() const;
  // Per millisecond, what one work group does, with the time to launch it; a guess below any GPU until
  // something has been measured.
  double speed() const;
  // The number of work groups that have been seen to run at a time; too large rather than too small, because
  // launching takes longer for one group than for many.
  double processors() const;
  // Whether a group of so much work should be timed: the largest so far took less,
  // so that launching was more of its time.
  bool wants_group(double work) const { return work > 1.5 * timed_group_; }

  struct Sample {
    double work = 0.0, largest_group = 0.0;
    bool alone =
        false;  // nothing else was running when it began: else it may have started in the tail of another piece
    bool one_unit = false;     // all of its groups began at once
    bool may_overlap = false;  // it may have begun beside the sample before, which is of the same kind
  };
  void measure(const Sample& sample, double milliseconds);

 private:
  bool measured_ = false;
  double work_ = 0.0, time_ = 0.0;  // of all pieces, each less important than the next
  double throughput_ = 0.0, speed_ = 0.0, timed_group_ = 0.0;
};

// A rectangle of a job: these steps of these units.
struct GpuRange {
  Index first_unit = 0, units = 0, first_step = 0, steps = 1;
};

// A job is a number of units, independent of each other, of the same number of steps: a unit's steps run in
// order, each going on with what the earlier ones wrote. How steps are grouped must not change a bit of the
// result, because it follows from times.
struct GpuJob {
  std::string kind = {};     // the name of the shader
  std::string variant = {};  // how it was compiled: jobs of one kind and variant run at the same rate
  Index units = 0;
  Index groups = 1;      // work groups of one unit
  Index steps = 1;       // of each unit
  Index most_steps = 0;  // of one dispatch; 0: all
  double work = 1.0;     // of one step of one unit, multiply-adds; more than 0
  // How many of steps [first, end) a unit does, if it skips some, as far as the plan knows; null:
  // all of them.
  std::function<Index(Index unit, Index first, Index end)> steps_done = {};
  std::function<void(const GpuRange&)> dispatch = {};
};

struct SliceLimits {
  double milliseconds = 4.0;
  Index least_steps = 1;  // of a work group, however long they take
};

// Where a window draws on the same GPU: it waits for two slices at most.
// A frame of 60 a second has room for them.
constexpr SliceLimits slices_beside_window{4.0, 1};
// Where none does: still short enough to be cancelled at once. A group of a slow device has some steps, so
// that what it loads and stores between them is little beside them.
constexpr SliceLimits slices_alone{40.0, 16};
// On software, which takes a millisecond to hand a slice over and computes its groups one after the other.
constexpr SliceLimits slices_on_software{100.0, 64};

class GpuWork {
 public:
  // `queue` must outlive it.
  explicit GpuWork(GpuQueue& queue) : queue_(&queue) {}

  // Resets the counts, once everything is done.
  void begin();
  // Jobs are independent of each other, except for a barrier between them.
  void add(GpuJob job);
  // Jobs added from here on see what those added before wrote.
  void barrier();

  // Submits one slice of work, unless two are still in flight; true until everything is done. With `wait` it
  // waits for one of them instead of returning with nothing done. A work group gets as few steps as it takes
  // to end within half a millisecond, as far as its kind has been timed, and one step at first.
  bool advance(const SliceLimits& limits, bool wait);

  // Exactly this many steps at once, where a binding allows it; 0: as measured.
  void set_steps_at_once(Index steps) { steps_at_once_ = steps; }

  double progress() const;  // 0 … 1, of what was added since begin()
  // Units of this kind added since begin().
  Index units(const std::string& kind) const;
  // The number of work groups of this kind that have been seen to run at a time; 0: none measured.
  double processors(const std::string& kind) const;
  double gpu_milliseconds() const { return total_; }
  double longest_slice() const { return longest_; }  // milliseconds

 private:
  struct Stage {  // jobs between two barriers
    std::vector<GpuJob> jobs;
    std::vector<Index> done;  // steps of each
  };
  // Some steps of one job; a round has one for each job of the stage, and a barrier before the next round.
  struct Part {
    std::size_t job;
    Index first_step, steps;
  };
  struct Piece {
    GpuRate* rate;
    GpuRate::Sample sample;
  };
  struct Slice {
    std::deque<Piece> pieces;
    double milliseconds = 0.0;  // of the pieces whose times are taken
  };
  // How much of a part fits. Units that skip all their steps are charged a little.
  struct Fit {
    Index units = 0;
    double work = 0.0, charged = 0.0, largest_group = 0.0;
  };

  bool collect(bool wait);  // the oldest slice in flight; false while it runs
  void begin_round();
  void end_part();
  GpuRate rate_of(const GpuJob& job) const;
  Index steps_of(const GpuJob& job, Index first) const;
  // At least so many units, and as long as they do nothing, if they are to tell a time.
  Fit fit(const GpuJob& job, const Part& part, double most_work, Index least, bool is_timed) const;
  bool in_flight(const GpuRate& rate) const;
  void hand_over(Slice& slice, GpuRate& rate, const GpuRate::Sample& sample);
  void fill(Slice& slice, double milliseconds);

  GpuQueue* queue_;
  std::deque<Stage> stages_;
  std::deque<Part> round_;  // of the first stage
  Index next_unit_ = 0;     // of the first part
  bool open_ = false;       // the last stage takes further jobs
  bool barrier_due_ = false;
  const GpuRate* last_rate_ = nullptr;  // of the last piece handed over
  Index least_steps_ = 1;
  std::deque<Slice> under_way_;
  std::map<std::pair<std::string, std::string>, GpuRate> rates_;
  std::map<std::string, Index> units_;
  Index steps_at_once_ = 0;
  double added_ = 0.0, handed_ = 0.0, total_ = 0.0, longest_ = 0.0;
};

}  // namespace headwise
