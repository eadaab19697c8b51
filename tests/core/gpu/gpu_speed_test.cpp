#include "core/gpu/gpu_speed.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>

#include "core/gpu/gpu_faults.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "tests/core/gpu/computing_context.h"

using namespace headwise;
using namespace headwise::test;

TEST_CASE("the GPU multiplies and adds at a speed that long slices and short ones measure again") {
  OPEN_OR_SKIP(context, context_or_skip());
  GpuSpeed speed;
  for (const double milliseconds : {2.0, 0.1, 2.0}) {
    CAPTURE(milliseconds);
    const double gflops = speed.fma_peak_gflops(milliseconds);
    CHECK(gflops > 0.0);
    CHECK(gflops < 1e7);  // ten times what any single GPU does
  }
}

TEST_CASE("the GPU copies at a speed that can be measured, also where little room is left") {
  OPEN_OR_SKIP(context, context_or_skip());
  GpuLimits limits = gpu_limits();
  limits.storage_block_bytes = Index{8} << 20;
  GpuSpeed speed(limits);
  const double copied = speed.copy_gbytes_per_s();
  CHECK(copied > 0.0);
  CHECK(copied < 1e6);
}

TEST_CASE("measuring the GPU's speed ends where memory runs out, the context is lost, or it is cancelled") {
  OPEN_OR_SKIP(context, context_or_skip());
  GpuLimits limits = gpu_limits();
  limits.storage_block_bytes = Index{8} << 20;
  GpuSpeed speed(limits);
  const auto status = [&] {
    try {
      speed.copy_gbytes_per_s();
      speed.fma_peak_gflops(0.1);
    } catch (const Error& error) {
      return error.status();
    }
    return ExitStatus::done;
  };
  CHECK(status() == ExitStatus::done);
  for (const int times : {0, 5}) {
    CAPTURE(times);
    {
      const SimulatedGpuFault simulated(GpuFault::out_of_memory, times);
      CHECK(status() == ExitStatus::memory);
    }
    const SimulatedGpuFault simulated(GpuFault::context_lost, times);
    CHECK(status() == ExitStatus::no_display);
  }
  std::atomic<bool> cancelled = true;
  const CancelScope scope(cancelled);
  CHECK(status() == ExitStatus::cancelled);
}

TEST_CASE("a slice lasts as the GPU's clock tells, unless that is longer than the wait or next to nothing") {
  const auto check = [](double told, double waited, double milliseconds, bool by_clock) {
    CAPTURE(told);
    CAPTURE(waited);
    CHECK(slice_time(told, waited).milliseconds == milliseconds);
    CHECK(slice_time(told, waited).by_clock == by_clock);
  };
  check(1.9, 2.1, 1.9, true);
  check(0.004, 0.1, 0.004, true);   // a tiny slice that waited in a queue
  check(3.7e7, 23.8, 23.8, false);  // uptime
  check(0.03, 4.1, 4.1, false);     // what llvmpipe tells of a dispatch
  check(0.0, 0.2, 0.2, false);
}
