// The measured peak speed of a GPU, as of the processor in core/fused/machine_speed.h:
// the yardstick for the gl backend.
#pragma once

#include "core/gpu/compute_program.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/storage_buffer.h"

namespace headwise {

// How long a slice took.
struct SliceTime {
  double milliseconds = 0.0;
  // of the GPU; else of the program, which includes what it takes to hand the slice over
  bool by_clock = false;
};

// By the GPU's clock (GL_TIME_ELAPSED) if what it told can be true of a slice that the program waited for so
// long, both in milliseconds: software may tell the machine's uptime, or leave out what shaders compute.
SliceTime slice_time(double clocked, double waited);

// Belongs to the context that is current when it is made, which must be able to compute and be current for
// every call. All throw Error(no_display), Error(memory), and what check_gpu()
// throws (core/gpu/gpu_faults.h).
class GpuSpeed {
 public:
  explicit GpuSpeed(const GpuLimits& limits = gpu_limits());

  // Multiply-adds in f32 of numbers in registers, in 1e9 floating point operations per second: the fastest of
  // some slices of about `milliseconds` of GPU time, longer ones where the GPU has no clock. The first call
  // also finds out how much that is.
  double fma_peak_gflops(double milliseconds = 2.0);

  // Bytes read and written, in 1e9 per second, when a shader copies an array to another, the best of several
  // times. The arrays are of 256 MiB each, or as large as a shader can bind and the GPU has room for.
  double copy_gbytes_per_s();

 private:
  SliceTime time_multiply_adds();

  GpuLimits limits_;
  ComputeProgram multiply_adds_;
  StorageBuffer sums_;
  Index groups_, rounds_ = 1;  // of a slice of multiply-adds
  bool warm_ = false;
};

}  // namespace headwise
