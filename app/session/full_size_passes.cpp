#include "app/session/full_size_passes.h"

#include <chrono>
#include <functional>
#include <vector>

#include "app/gl/renderer_name.h"
#include "app/platform/offscreen_context.h"
#include "core/bench/interleaved_runs.h"
#include "core/bench/machine_speed.h"
#include "core/fused/fused_backend.h"
#include "core/gpu/gl_backend.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// A short pass is repeated, so that one interruption does not pass for its time.
constexpr int most_runs = 5;
constexpr double seconds_of_runs = 1.0;
// Before each pass, as `headwise bench` does it: the clock of a core rises in longer loops of nothing else.
constexpr double seconds_of_peak = 0.002;
constexpr double bytes_of_mib = 1024.0 * 1024.0;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// `pass` adds the seconds of one more.
void repeat(std::vector<double>& seconds, Clock::time_point started, const std::function<void()>& pass) {
  // The first one also fetches its memory from the system, or compiles: it counts only where it is the only one.
  if (seconds.front() < seconds_of_runs) seconds.clear();
  while (seconds.empty() ||
         (static_cast<int>(seconds.size()) < most_runs && seconds_since(started) < seconds_of_runs))
    pass();
}

FullSizePasses cpu_passes(const AttentionInputs& inputs, FullSizeBackend backend, const TracePtr& before) {
  FullSizePasses made;
  made.backend = backend;
  std::vector<double> seconds, peaks;
  const auto pass = [&] {
    made.trace.reset();
    peaks.push_back(fma_peak_gflops(available_threads(), seconds_of_peak));
    const auto begun = Clock::now();
    made.trace = backend == FullSizeBackend::reference
                     ? reference_forward(inputs)
                     : fused_forward(inputs, {.keep_projections = true, .before = before});
    seconds.push_back(seconds_since(begun));
  };
  const auto started = Clock::now();
  made.extra_mib = extra_mib(pass);
  repeat(seconds, started, pass);
  made.kept_projections = before && made.trace->tensors.q == before->tensors.q;
  made.seconds = median(seconds);
  made.runs = static_cast<int>(seconds.size());
  made.peak_gflops = median(peaks);
  return made;
}

FullSizePasses gl_passes(const AttentionInputs& inputs) {
  const OffscreenContext context(1, 1, OffscreenUse::computing);
  std::string reason = compute_refusal();
  if (reason.empty()) reason = gl_refusal(inputs, gpu_limits());
  if (!reason.empty()) throw Error(ExitStatus::no_display, {.where = "gl", .what = reason});
  FullSizePasses made;
  made.backend = FullSizeBackend::gl;
  made.gpu = gl::renderer_name();
  GlForward forward(inputs);
  made.gpu_mib = static_cast<double>(forward.gpu_bytes()) / bytes_of_mib;
  std::vector<double> seconds;
  const auto finish = [&] {
    const auto begun = Clock::now();
    forward.finish();
    seconds.push_back(seconds_since(begun));
  };
  const auto started = Clock::now();
  finish();
  repeat(seconds, started, [&] {
    forward.again();
    finish();
  });
  made.seconds = median(seconds);
  made.runs = static_cast<int>(seconds.size());
  made.longest_slice = forward.longest_slice();
  const auto begun = Clock::now();
  made.trace = forward.trace();
  made.read_seconds = seconds_since(begun);
  return made;
}

}  // namespace

FullSizePasses full_size_passes(const AttentionInputs& inputs, FullSizeBackend backend, const TracePtr& before) {
  if (backend != FullSizeBackend::gl) return cpu_passes(inputs, backend, before);
  std::string reason;
  try {
    return gl_passes(inputs);
  } catch (const Error& error) {  // no context or shaders; a GPU that was reset, or has no room
    if (error.status() != ExitStatus::no_display && error.status() != ExitStatus::memory) throw;
    reason = error.what();
  }
  FullSizePasses made = cpu_passes(inputs, FullSizeBackend::fused, before);
  made.notice = reason + ". The fused backend computed this.";
  return made;
}

}  // namespace headwise
