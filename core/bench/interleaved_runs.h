// Several pieces of work timed in turns with the machine's peak, so that a ratio of two holds on a machine whose speed
// changes meanwhile.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace headwise {

struct TimedWork {
  std::function<void()> run;
  int threads = 1;  // that it may use: it is held against the peak of as many
};

struct Timing {
  double median_seconds = 0.0, least_seconds = 0.0;
  double peak_gflops = 0.0;  // the median of those measured in the same rounds
  double extra_mib = 0.0;    // memory that one run takes beside what stands already, its result among it
};

// Each piece twice unmeasured, for its memory and its length; then `rounds` (≥ 1) rounds of every piece, what is short
// several times, and before each the peak for 2 ms. Throws what a piece throws, Error(cancelled).
std::vector<Timing> time_in_turns(std::span<const TimedWork> work, int rounds);

// How far the memory in use rises during a run, in MiB. Memory that is free but kept goes back first. 0 where the system does
// not tell.
double extra_mib(const std::function<void()>& run);

// Half of the numbers are not larger; of an even count the mean of the two in the middle. Not of none.
double median(std::vector<double> numbers);

}  // namespace headwise
