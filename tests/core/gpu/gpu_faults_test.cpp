// What goes wrong on a GPU is noticed at the next slice, and the fused backend does the work.
#include "core/gpu/gpu_faults.h"

#include <doctest/doctest.h>
#include <epoxy/gl.h>

#include <atomic>

#include "core/gpu/gl_backend.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "tests/core/fused/agreement.h"
#include "tests/core/gpu/computing_context.h"

using namespace headwise;
using namespace headwise::test;

namespace {

ExitStatus status_with(GpuFault fault, int times) {
  const AttentionInputs inputs = sized_inputs(1, 100, 100, 2, 2, 16, 16);
  const SimulatedGpuFault simulated(fault, times);
  try {
    gl_forward(inputs, {.slices = {.milliseconds = 1e-6}});
  } catch (const Error& error) {
    return error.status();
  }
  return ExitStatus::done;
}

}  // namespace

TEST_CASE("a lost context and memory that runs out end a run wherever it is, with the status of their kind") {
  OPEN_OR_SKIP(context, context_or_skip());
  for (const int times : {0, 1, 7, 20, 30}) {
    CAPTURE(times);
    CHECK(status_with(GpuFault::context_lost, times) == ExitStatus::no_display);
    CHECK(status_with(GpuFault::out_of_memory, times) == ExitStatus::memory);
    CHECK(status_with(GpuFault::refused_call, times) == ExitStatus::no_display);
  }
  CHECK(status_with(GpuFault::context_lost, 100'000) == ExitStatus::done);
  CHECK(gpu_fault() == GpuFault::none);
}

TEST_CASE("a context that is lost at any check of a run ends it, and the next run computes the same bits") {
  OPEN_OR_SKIP(context, context_or_skip());
  const AttentionInputs inputs = sized_inputs(1, 100, 100, 2, 2, 16, 16);
  const TracePtr whole = gl_forward(inputs);
  int checks = 0;
  while (status_with(GpuFault::context_lost, checks) != ExitStatus::done) ++checks;
  CHECK(checks > 10);  // projections, attention, output, and reading back
  CHECK(identical(*gl_forward(inputs)->tensors.output, *whole->tensors.output));
}

TEST_CASE("a run that is cancelled after any number of slices ends, and the next computes the same bits") {
  OPEN_OR_SKIP(context, context_or_skip());
  const AttentionInputs inputs = sized_inputs(1, 100, 100, 2, 2, 16, 16);
  const TracePtr whole = gl_forward(inputs);
  int slices = 0;
  for (bool whole_run = false; !whole_run; ++slices) {
    std::atomic<bool> cancelled = false;
    const CancelScope scope(cancelled);
    GlForward forward(inputs, {.slices = {.milliseconds = 1e-6}});
    for (int i = 0; i < slices && forward.progress() < 1.0; ++i) forward.advance();
    whole_run = forward.progress() >= 1.0;
    cancelled = true;
    if (!whole_run) CHECK_THROWS_AS(forward.finish(), Error);
    REQUIRE(slices < 10'000);
  }
  CHECK(slices > 5);
  CHECK(identical(*gl_forward(inputs)->tensors.output, *whole->tensors.output));
}

TEST_CASE("a call that the driver refuses is told once, and what others left behind is no fault of a run") {
  OPEN_OR_SKIP(context, context_or_skip());
  glEnable(GL_RGBA);
  CHECK(gpu_fault() == GpuFault::refused_call);
  CHECK(gpu_fault() == GpuFault::none);
  glEnable(GL_RGBA);
  CHECK_THROWS_WITH_AS(check_gpu(), doctest::Contains("refused"), Error);
  glEnable(GL_RGBA);
  CHECK(gl_forward(sized_inputs(1, 10, 10, 2, 2, 8, 8))->tensors.output);
}
