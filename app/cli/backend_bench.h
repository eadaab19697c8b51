// headwise bench without --ui: measures the speed of the backends.
#pragma once

#include <optional>
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

struct BackendRun {
  std::string backend, preset;
  long embed_dim = 0, num_heads = 0, num_kv_heads = 0, length = 0;
  std::string op;
  bool is_causal = false, keeps_weights = false;
  // What differs from the previous run: "scale", "gain" or "token"; empty: a run from scratch.
  std::string edit = {};
  int threads = 0;
  // peak_gflops: of what computes, the processor or with gl the GPU, measured beside the run; extra_mib: with
  // gl, GPU memory including inputs and parameters.
  double median_ms = 0.0, least_ms = 0.0, gflops = 0.0, peak_gflops = 0.0, fraction_of_peak = 0.0,
         extra_mib = 0.0;
  double max_abs_diff = 0.0;
};

struct BackendBench {
  double fma_peak_gflops = 0.0, bandwidth_gbs = 0.0;  // on `threads` threads
  int threads = 0;
  std::string isa;
  std::optional<std::string> gl_renderer;  // none if no backend needed one
  // What its shaders reach: medians of what was measured beside each gl run; none if there was none.
  std::optional<double> gl_fma_peak_gflops, gl_copy_gbytes_per_s;
  std::vector<BackendRun> runs;
};

// Times everything in turns, with gl size by size. A backend that refuses the work is skipped with a warning.
// Throws Error(usage), Error(input), also for a warning if the request is strict, Error(memory),
// Error(no_display) if gl finds no GPU although HEADWISE_EXPECT_GPU is set (app/gl/driver.h).
BackendBench bench_backends(const BackendBenchRequest& request);

Report bench_report(const BackendBench& bench);

}  // namespace headwise
