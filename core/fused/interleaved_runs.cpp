#include "core/fused/interleaved_runs.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>

#include "core/fused/machine_speed.h"
#include "core/tensor/cancellation.h"

namespace headwise {
namespace {

// As long as a short run: work that also moves data does not reach the clock speed of a loop of multiply-adds
// only after some 10 ms.
constexpr double peak_seconds = 0.002;
// Shorter work is repeated for one measurement.
constexpr double shortest_seconds = 0.004;
constexpr int most_at_once = 64;
// Longer work has no extra warm-up run before it is measured: the contents of the caches hardly matter.
constexpr double longest_warmed_seconds = 0.1;

double seconds_of(const std::function<void()>& run, int times) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
}

// A line "NAME:   12345 kB" of /proc/self/status, in MiB; 0 where it cannot be read.
double status_mib(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double kilobytes = 0.0;
    if (word == name && file >> kilobytes) return kilobytes / 1024.0;
  }
  return 0.0;
}

}  // namespace

double extra_mib(const std::function<void()>& run) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
  const double before = status_mib("VmRSS:");
  run();
  return std::max(0.0, status_mib("VmHWM:") - before);
}

double median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 ? numbers[half] : 0.5 * (numbers[half - 1] + numbers[half]);
}

std::vector<Timing> time_in_turns(std::span<const TimedWork> work) {
  std::vector<Timing> timings(work.size());
  std::vector<std::vector<double>> seconds(work.size()), peaks(work.size());
  std::vector<int> at_once(work.size(), 1);
  std::vector<bool> is_warmed(work.size());
  int beats = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    timings[i].extra_mib = extra_mib(work[i].run);
    const double once = seconds_of(work[i].run, 1);
    at_once[i] = std::clamp(static_cast<int>(shortest_seconds / std::max(once, 1e-6)), 1, most_at_once);
    is_warmed[i] = work.size() > 1 && once < longest_warmed_seconds;
    beats = std::max(beats, work[i].rounds);
  }
  for (std::int64_t beat = 0; beat < beats; ++beat) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      if ((beat + 1) * work[i].rounds / beats == beat * work[i].rounds / beats) continue;
      check_cancelled();
      if (is_warmed[i]) work[i].run();
      peaks[i].push_back(work[i].peak ? work[i].peak() : fma_peak_gflops(work[i].threads, peak_seconds));
      seconds[i].push_back(seconds_of(work[i].run, at_once[i]));
    }
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    timings[i].median_seconds = median(seconds[i]);
    timings[i].least_seconds = *std::ranges::min_element(seconds[i]);
    timings[i].peak_gflops = median(peaks[i]);
  }
  return timings;
}

}  // namespace headwise
