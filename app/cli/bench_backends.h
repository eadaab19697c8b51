// headwise bench without --ui: measures the speed of the backends.
#pragma once

#include <string>
#include <vector>

#include "app/cli/report.h"

namespace headwise {

struct BackendBenchRequest {
  std::vector<std::string> presets;   // names or files; empty: the program's standard benchmark sizes
  std::vector<std::string> settings;  // PATH=VALUE, for each of them
  std::vector<std::string> backends;  // empty: reference and fused
  std::vector<int> threads;           // each ≥ 1; empty: all available, and for the standard sizes also 1
  int rounds = 0;                     // 0: depends on the duration of the work
  bool strict = false;                // warnings are errors
};

// Times everything in turns, with gl size by size. A backend that refuses the work is skipped with a warning.
// Throws Error(usage), Error(input), also for a warning if the request is strict, Error(memory),
// Error(no_display) if gl finds no GPU although HEADWISE_EXPECT_GPU is set (app/platform/driver.h).
Report backend_bench_report(const BackendBenchRequest& request);

}  // namespace headwise
