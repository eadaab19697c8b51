// Which backend computes where the one that was asked for cannot, and what is said of it.
#include <doctest/doctest.h>

#include "app/platform/offscreen_context.h"
#include "core/attention/reference_backend.h"
#include "core/backend/backend.h"
#include "core/fused/fused_backend.h"
#include "core/gpu/gpu_faults.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/fused/agreement.h"

using namespace headwise;
using headwise::test::random_inputs;
using headwise::test::sized_inputs;
using headwise::test::small_options;

namespace {

std::shared_ptr<const void> no_context() {
  throw Error(ExitStatus::no_display, {.where = "EGL", .what = "there is none"});
}

struct Told {
  std::vector<std::string> warnings;
  TracePtr trace;
};

Told trace_by(BackendId id, const AttentionInputs& inputs, bool backward = false) {
  Told told;
  told.trace = backend_trace(backend_of(id), inputs, backward, std::vector<TensorName>{{TensorId::output}},
                             no_context, [&](const std::string& warning) { told.warnings.push_back(warning); });
  return told;
}

}  // namespace

TEST_CASE("each backend is found by its name and by its id, and another name is refused with all of theirs") {
  for (const Backend& backend : backends()) {
    CHECK(&backend_of(backend.id) == &backend);
    CHECK(&backend_named(backend.name) == &backend);
  }
  CHECK_THROWS_WITH_AS(backend_named("abacus"), doctest::Contains("reference, fused, gl"), Error);
}

TEST_CASE("without a GPU the fused backend computes what gl was asked for, and one sentence says so") {
  const AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  const Told told = trace_by(BackendId::gl, inputs);
  REQUIRE(told.warnings.size() == 1);
  CHECK(told.warnings[0].ends_with("using the fused backend"));
  CHECK(identical(*told.trace->tensors.output, *trace_by(BackendId::fused, inputs).trace->tensors.output));
}

TEST_CASE("what neither gl nor fused can compute the reference does") {
  const AttentionInputs inputs = random_inputs(small_options(), {}, DType::f64);
  const Told told = trace_by(BackendId::gl, inputs);
  REQUIRE(told.warnings.size() == 2);
  CHECK(told.warnings[1].ends_with("using the reference backend"));
  CHECK(identical(*told.trace->tensors.output, *reference_forward(inputs)->tensors.output));
}

TEST_CASE("a backward pass is the reference's, whichever backend was asked for") {
  const AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  CHECK(trace_by(BackendId::reference, inputs, true).warnings.empty());
  const Told told = trace_by(BackendId::fused, inputs, true);
  REQUIRE(told.warnings.size() == 1);
  CHECK(told.trace->tensors.scores);
}

TEST_CASE("a fused pass whose output is not finite says who tells where that begins") {
  for (const double factor : {1.0, 1e308}) {
    AttentionInputs inputs = random_inputs(small_options(4, 4, 4), {}, DType::f32);
    inputs.options.rotary_base = 100.0;
    inputs.options.rotary_factor = factor;
    const auto pass = backend_of(BackendId::fused).start(inputs, {});
    pass->compute();
    const std::vector<std::string> warnings = pass->trace()->warnings;
    REQUIRE(warnings.size() == (factor == 1.0 ? 0 : 1));
    if (factor != 1.0) CHECK_CONTAINS(warnings[0], ": --backend reference says where the first such number");
  }
}

TEST_CASE("an error that is not the GPU's is not a reason to try another backend") {
  const AttentionInputs inputs = random_inputs(small_options(), {}, DType::f32);
  int calls = 0;
  CHECK_THROWS_AS(compute_with_fallback(
                      BackendId::fused, inputs, no_context,
                      [&](const Backend&) {
                        ++calls;
                        throw Error(ExitStatus::memory, {.what = "no room"});
                      },
                      [](const std::string&, const Backend&) {}),
                  Error);
  CHECK(calls == 1);
}

TEST_CASE("without compute shaders, and after a fault, --backend gl gives the numbers of fused") {
  const AttentionInputs inputs = sized_inputs(1, 60, 60, 2, 2, 8, 8);
  const std::vector<TensorName> needed{TensorName{TensorId::output}};
  const TracePtr fused = fused_forward(inputs);
  for (const GpuFault fault : {GpuFault::no_compute, GpuFault::context_lost, GpuFault::out_of_memory}) {
    const SimulatedGpuFault simulated(fault, 4);
    std::vector<std::string> warnings;
    const TracePtr trace = backend_trace(backend_of(BackendId::gl), inputs, false, needed, computing_context,
                                         [&](const std::string& warning) { warnings.push_back(warning); });
    CHECK(warnings.size() == 1);
    CHECK(identical(*trace->tensors.output, *fused->tensors.output));
  }
}
