#include "tests/gpu/timed_runs.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/fused/interleaved_runs.h"
#include "core/gpu/gpu_faults.h"

namespace headwise::gpu_bench {

double median_milliseconds(const std::function<void()>& run, double seconds) {
  const auto timed = [&](int times) {
    glFinish();
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) run();
    glFinish();
    check_gpu();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count() / times;
  };
  timed(1);
  const double first = timed(1);
  const int together = static_cast<int>(std::clamp(2.0 / std::max(first, 1e-3), 1.0, 100.0));
  const int rounds =
      static_cast<int>(std::clamp(1e3 * seconds / (std::max(first, 1e-3) * together), 1.0, 25.0));
  std::vector<double> times{first};
  for (int round = 0; round < rounds; ++round) times.push_back(timed(together));
  return median(times);
}

}  // namespace headwise::gpu_bench
