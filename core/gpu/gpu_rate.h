// How fast a GPU does one kind of work, learned from the times of its pieces.
#pragma once

namespace headwise {

// Work is counted in multiply-adds, or what is taken for one. A piece of n work groups on P processors that each do `speed` takes about
// ⌈n/P⌉ · (work of a group) / speed. P is not told by OpenGL: it is found by handing over more and more groups while the time does not
// grow in proportion.
class GpuRate {
 public:
  bool measured() const { return measured_; }
  // Per millisecond, what the whole GPU has been seen to do: for more work than was measured, the time grows at most in proportion.
  double throughput() const;
  // Per millisecond, what one work group does, with the time to launch it; a guess below any GPU until something has been measured.
  double speed() const;
  // The number of work groups that have been seen to run at a time; too large rather than too small, because launching takes longer
  // for one group than for many.
  double processors() const;
  // Whether a group of so much work should be timed: the largest so far took less, so that launching was more of its time.
  bool wants_group(double work) const { return work > 1.5 * timed_group_; }

  struct Sample {
    double work = 0.0, largest_group = 0.0;
    bool alone =
        false;  // nothing else was running when it began: else it may have started in the tail of another piece
    bool one_unit = false;  // all of its groups began at once
    bool goes_on = false;   // it may have begun beside the sample before, which is of the same kind
  };
  void measure(const Sample& sample, double milliseconds);

 private:
  bool measured_ = false;
  double work_ = 0.0, time_ = 0.0;  // of all pieces, each less important than the next
  double throughput_ = 0.0, speed_ = 0.0, timed_group_ = 0.0;
};

}  // namespace headwise
