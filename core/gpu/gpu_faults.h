// What can go wrong with a GPU while it computes, asked for at one place: a driver that was reset, memory that ran out, a
// call that the driver refused.
#pragma once

namespace headwise {

enum class GpuFault { none, no_compute, context_lost, out_of_memory, refused_call };

// What went wrong in the current context since this was last asked.
GpuFault gpu_fault();

// Throws Error(no_display) where the context is lost or refused a call, Error(memory) where memory ran out. Asked after each
// slice of work and each piece that is read back: the numbers that come after a fault are nobody's.
void check_gpu();

// Whether a test wants contexts without compute shaders (below).
bool compute_is_missing();

// For tests: while it lives, in every thread, all goes well `times` times that somebody asks, and from then on the answer is
// `fault`. With no_compute, contexts have no compute shaders. One at a time.
class SimulatedGpuFault {
 public:
  explicit SimulatedGpuFault(GpuFault fault, int times = 0);
  ~SimulatedGpuFault();
  SimulatedGpuFault(const SimulatedGpuFault&) = delete;
  SimulatedGpuFault& operator=(const SimulatedGpuFault&) = delete;
};

}  // namespace headwise
