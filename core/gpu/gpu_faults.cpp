#include "core/gpu/gpu_faults.h"

#include <epoxy/gl.h>

#include <atomic>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// A lost context may report errors endlessly.
constexpr int most_errors = 16;

std::atomic<GpuFault> simulated = GpuFault::none;
std::atomic<int> simulated_after = 0;

}  // namespace

bool context_lost() {
  if (epoxy_gl_version() >= 45) return glGetGraphicsResetStatus() != GL_NO_ERROR;
  if (epoxy_has_gl_extension("GL_KHR_robustness")) return glGetGraphicsResetStatusKHR() != GL_NO_ERROR;
  if (epoxy_has_gl_extension("GL_ARB_robustness")) return glGetGraphicsResetStatusARB() != GL_NO_ERROR;
  return false;
}

GpuFault gpu_fault() {
  const GpuFault pretended = simulated.load();
  if (pretended != GpuFault::none && pretended != GpuFault::no_compute && simulated_after.fetch_sub(1) <= 0)
    return pretended;
  if (context_lost()) return GpuFault::context_lost;
  GpuFault found = GpuFault::none;
  for (int i = 0; i < most_errors; ++i) {
    const GLenum error = glGetError();
    if (error == GL_NO_ERROR) break;
    if (error == GL_CONTEXT_LOST) return GpuFault::context_lost;
    if (error == GL_OUT_OF_MEMORY) found = GpuFault::out_of_memory;
    if (found == GpuFault::none) found = GpuFault::refused_call;
  }
  return found;
}

void check_gpu() {
  switch (gpu_fault()) {
    case GpuFault::none:
    case GpuFault::no_compute:
      return;
    case GpuFault::context_lost:
      throw Error(
          ExitStatus::no_display,
          {.where = "gl", .what = "the graphics driver was reset, and what the GPU had computed is gone"});
    case GpuFault::out_of_memory:
      throw Error(ExitStatus::memory, {.where = "gl", .what = "the GPU ran out of memory"});
    case GpuFault::refused_call:
      throw Error(ExitStatus::no_display, {.where = "gl", .what = "the graphics driver refused a call"});
  }
}

SimulatedGpuFault::SimulatedGpuFault(GpuFault fault, int times) {
  simulated_after = times;
  simulated = fault;
}

SimulatedGpuFault::~SimulatedGpuFault() {
  simulated = GpuFault::none;
}

bool compute_is_missing() {
  return simulated == GpuFault::no_compute;
}

}  // namespace headwise
