#include "app/session/full_size_passes.h"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "app/gl/offscreen_context.h"
#include "app/gl/renderer_name.h"
#include "core/bench/interleaved_runs.h"
#include "core/bench/machine_speed.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_speed.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// A short pass is repeated, so that a single interruption does not distort its time.
constexpr int most_runs = 5;
constexpr double seconds_of_runs = 1.0;
// Before each pass, as in `headwise bench`: a core's clock rises in longer loops of nothing else.
constexpr double seconds_of_peak = 0.002;
constexpr double bytes_of_mib = 1024.0 * 1024.0;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// `pass` adds the seconds of one more.
void repeat(std::vector<double>& seconds, Clock::time_point started, const std::function<void()>& pass) {
  // The first pass also gets its memory from the system, or compiles: it counts only if it is the only one.
  if (seconds.front() < seconds_of_runs) seconds.clear();
  while (seconds.empty() ||
         (static_cast<int>(seconds.size()) < most_runs && seconds_since(started) < seconds_of_runs))
    pass();
}

FullSizePasses timed_passes(const Backend& backend, const AttentionInputs& inputs, const TracePtr& before) {
  const bool gl = backend.id == BackendId::gl;
  FullSizePasses made;
  made.backend = backend.id;
  PassOptions options{
      .needed = std::vector<TensorName>{{TensorId::q}, {TensorId::k}, {TensorId::v}, {TensorId::output}},
      // Software computes on the processors, which the window gets its share of, whatever is submitted at once.
      .beside_window = gl && !is_software_renderer(gl::renderer_name()),
      .before = before};
  if (backend.keeps_every_tensor) options.needed.reset();  // as on the stage
  const std::unique_ptr<BackendPass> pass = backend.start(inputs, options);
  std::vector<double> seconds, peaks;
  std::optional<GpuSpeed> gpu;
  if (gl) gpu.emplace();
  const auto timed_pass = [&] {
    peaks.push_back(gpu ? gpu->fma_peak_gflops(1e3 * seconds_of_peak)
                        : fma_peak_gflops(available_threads(), seconds_of_peak));
    const auto begun = Clock::now();
    pass->compute();
    seconds.push_back(seconds_since(begun));
  };
  const auto started = Clock::now();
  if (gl) {
    made.gpu = gl::renderer_name();
    timed_pass();
  } else {
    made.extra_mib = extra_mib(timed_pass);
  }
  repeat(seconds, started, timed_pass);
  made.seconds = median(seconds);
  made.runs = static_cast<int>(seconds.size());
  made.gpu_mib = static_cast<double>(pass->gpu_bytes()) / bytes_of_mib;
  made.longest_slice = pass->longest_slice();
  const auto begun = Clock::now();
  made.trace = pass->trace();
  if (gl) made.read_seconds = seconds_since(begun);
  made.peak_gflops = median(peaks);
  made.kept_projections = before && made.trace->tensors.q == before->tensors.q;
  return made;
}

}  // namespace

FullSizePasses full_size_passes(const AttentionInputs& inputs, BackendId backend, const TracePtr& before) {
  FullSizePasses made;
  std::string notice;
  compute_with_fallback(
      backend, inputs, computing_context,
      [&](const Backend& used) { made = timed_passes(used, inputs, before); },
      [&](const std::string& reason, const Backend& next) {
        notice = reason + ". The " + std::string(next.name) + " backend computed this.";
      });
  made.notice = notice;
  return made;
}

}  // namespace headwise
