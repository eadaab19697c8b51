// Times several pieces of work alternating with the machine's peak, so that a ratio of two holds on a machine
// whose speed changes meanwhile.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace headwise {

struct TimedWork {
  std::function<void()> run;
  int threads = 1;  // that it may use: it is compared with the peak of as many threads
  int rounds = 1;   // ≥ 1
  // Measures the peak of what it runs on, in 1e9 floating point operations per second; null:
  // of the processor.
  std::function<double()> peak = {};
};

struct Timing {
  double median_seconds = 0.0, least_seconds = 0.0;
  double peak_gflops = 0.0;  // the median of those measured in the same rounds
  double extra_mib =
      0.0;  // memory that one run allocates in addition to what is already in use, including its result
};

// Each piece runs twice unmeasured, for its memory and its duration; then they run in rounds, the rounds of
// each spread over those of the piece that has the most. In a round a piece first runs once unmeasured,
// unless it is long, because the others have filled the caches with their data; then the peak is measured for
// 2 ms, and then the piece, several times if it is short. Throws what a piece throws, Error(cancelled).
std::vector<Timing> time_in_turns(std::span<const TimedWork> work);

// How far the memory in use rises during a run, in MiB. Free memory still held by the allocator is returned
// first. 0 if the system does not report it.
double extra_mib(const std::function<void()>& run);

// The median; for an even count the mean of the two middle numbers. Requires at least one number.
double median(std::vector<double> numbers);

}  // namespace headwise
