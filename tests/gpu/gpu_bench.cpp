// headwise_gpu_bench PHASE [--small] [--binaries FOLDER]: one phase of tests/gpu/on_a_gpu.sh,
// as JSON on standard output.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "app/platform/driver.h"
#include "app/platform/offscreen_context.h"
#include "core/gpu/gpu_limits.h"
#include "core/tensor/error.h"
#include "tests/gpu/phases.h"

using namespace headwise;
using namespace headwise::gpu_bench;

namespace {

const std::map<std::string_view, std::string (*)(const PhaseOptions&)> computing_phases{
    {"shaders", shaders_phase},
    {"peak", peak_phase},
    {"kernels", kernels_phase},
    {"layers", layers_phase},
    {"extremes", extremes_phase}};

int failed(ExitStatus status, const std::string& why) {
  fmt::print(stderr, "headwise_gpu_bench: {}\n", why);
  return static_cast<int>(status);
}

}  // namespace

int main(int count, char** words) {
  const std::string_view phase = count > 1 ? words[1] : "";
  PhaseOptions options;
  for (int i = 2; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--small")
      options.small = true;
    else if (word == "--binaries" && i + 1 < count)
      options.binaries = words[++i];
    else
      return failed(ExitStatus::usage, fmt::format("{}: expected --small or --binaries FOLDER", word));
  }
  if (const char* const seconds = std::getenv("HEADWISE_PHASE_SECONDS"))
    options.ends = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(seconds));
  try {
    if (phase == "devices") {
      fmt::print("{}\n", devices_phase());
      return 0;
    }
    const auto chosen = computing_phases.find(phase);
    if (chosen == computing_phases.end())
      return failed(ExitStatus::usage, "expected devices, shaders, peak, kernels, layers or extremes");
    const OffscreenContext context(1, 1, OffscreenUse::computing);
    if (const std::string why = compute_refusal(); !why.empty()) return failed(ExitStatus::no_display, why);
    if (const std::string why = gl::missing_gpu(gl::renderer_name()); gl::expects_gpu() && !why.empty())
      return failed(ExitStatus::no_display, why);
    fmt::print("{}\n", chosen->second(options));
    return 0;
  } catch (const Error& error) {
    return failed(error.status(), error.what());
  } catch (const std::exception& error) {
    return failed(ExitStatus::memory, error.what());
  }
}
