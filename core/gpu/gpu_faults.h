// What can go wrong with a GPU while it computes, checked in one place: a driver reset, memory exhaustion, a
// call rejected by the driver.
#pragma once

namespace headwise {

enum class GpuFault { none, no_compute, context_lost, out_of_memory, refused_call };

// Whether the current context is lost. False if the driver cannot tell (neither OpenGL 4.5 nor KHR_robustness
// or ARB_robustness).
bool context_lost();

// What went wrong in the current context since the last call.
GpuFault gpu_fault();

// Throws Error(no_display) if the context is lost or rejected a call, Error(memory) if memory ran out. Called
// after each slice of work and each piece read back: numbers that come after a fault are meaningless.
void check_gpu();

// Whether a test requested contexts without compute shaders (below).
bool compute_is_missing();

// For tests: during its lifetime, in every thread, the first `times` checks succeed, and from then on they
// return `fault`. With no_compute, contexts have no compute shaders. Only one at a time.
class SimulatedGpuFault {
 public:
  explicit SimulatedGpuFault(GpuFault fault, int times = 0);
  ~SimulatedGpuFault();
  SimulatedGpuFault(const SimulatedGpuFault&) = delete;
  SimulatedGpuFault& operator=(const SimulatedGpuFault&) = delete;
};

}  // namespace headwise
