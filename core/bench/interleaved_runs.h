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
  int rounds = 1;   // ≥ 1
};

struct Timing {
  double median_seconds = 0.0, least_seconds = 0.0;
  double peak_gflops = 0.0;  // the median of those measured in the same rounds
  double extra_mib = 0.0;    // memory that one run takes beside what stands already, its result among it
};

// Each piece twice unmeasured, for its memory and its length; then one round of them after the other, the rounds of each spread
// over those of the piece that has the most. In a round a piece is run once unmeasured, unless it is long, for the others have left the
// caches full of theirs; then the peak is measured for 2 ms, and then the piece, several times where it is short. Throws what a
// piece throws, Error(cancelled).
std::vector<Timing> time_in_turns(std::span<const TimedWork> work);

// How far the memory in use rises during a run, in MiB. Memory that is free but kept goes back first. 0 where the system does
// not tell.
double extra_mib(const std::function<void()>& run);

// Half of the numbers are not larger; of an even count the mean of the two in the middle. Not of none.
double median(std::vector<double> numbers);

}  // namespace headwise
