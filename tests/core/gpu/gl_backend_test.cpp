// The operator in compute shaders against the reference, on whatever OpenGL is here (software, mostly).
#include "core/gpu/gl_backend.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <memory>

#include "app/gl/debug_output.h"
#include "app/platform/offscreen_context.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/trace/reference_backend.h"
#include "tests/core/fused/agreement.h"
#include "tests/core/trace/option_combinations.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// A context that computes, and every error of its driver as a failed test.
class ComputeContext {
 public:
  ComputeContext() {
    try {
      context_ = std::make_unique<OffscreenContext>(16, 16);
    } catch (const Error& error) {
      if (error.status() != ExitStatus::no_display) throw;
      MESSAGE("SKIPPED: " << error.what());
      return;
    }
    if (const std::string reason = compute_refusal(); !reason.empty()) {
      MESSAGE("SKIPPED: " << reason);
      context_.reset();
      return;
    }
    debug_ = std::make_unique<gl::DebugOutput>(
        [](const gl::DebugMessage& message) { CHECK_MESSAGE(!message.error, message.text); });
  }
  explicit operator bool() const { return context_ != nullptr; }

 private:
  std::unique_ptr<OffscreenContext> context_;
  std::unique_ptr<gl::DebugOutput> debug_;
};

void check_against_reference(const AttentionInputs& inputs, const GlRun& run = {}) {
  GlForward forward(inputs, run);
  forward.finish();
  const TracePtr got = forward.trace();
  check_agrees(*got, *reference_forward(inputs));
  CHECK(forward.guards_intact());
  CHECK(forward.progress() == 1.0);
  if (run.keep_attn_weights) CHECK(got->tensors.attn_weights);
}

}  // namespace

TEST_CASE("the gl backend agrees with the reference over every option") {
  const ComputeContext context;
  if (!context) return;
  for (const NamedInputs& named : single_option_inputs()) {
    CAPTURE(named.name);
    const AttentionInputs inputs = as_f32(named.inputs);
    if (!gl_refusal(inputs, gpu_limits()).empty()) continue;
    check_against_reference(inputs, {.keep_attn_weights = true});
  }
}

TEST_CASE("the gl backend agrees with the reference over options drawn together") {
  const ComputeContext context;
  if (!context) return;
  int done = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const NamedInputs named = random_combination(seed);
    CAPTURE(named.name);
    AttentionInputs inputs = as_f32(named.inputs);
    let_heads_go(inputs);
    if (!gl_refusal(inputs, gpu_limits()).empty()) continue;
    check_against_reference(inputs, {.keep_attn_weights = seed % 2 == 0});
    ++done;
  }
  CHECK(done > 40);
}

TEST_CASE("the gl backend agrees at sizes that fill no block") {
  const ComputeContext context;
  if (!context) return;
  for (const Index length : {1, 31, 33, 65, 257}) {
    for (const Index head_dim : {5, 8, 70}) {
      CAPTURE(length);
      CAPTURE(head_dim);
      AttentionInputs inputs = sized_inputs(2, length, length + 2, 4, 2, head_dim, head_dim + 3);
      check_against_reference(inputs);
      inputs.options.is_causal = true;
      inputs.options.sliding_window = 40;
      inputs.options.fully_masked_rows = FullyMaskedRows::zero;
      check_against_reference(inputs, {.keep_attn_weights = length < 100});
    }
  }
  check_against_reference(sized_inputs(1, 40, 70, 2, 1, 200, 256));
}

TEST_CASE("a small largest storage block cuts the work and changes no number") {
  const ComputeContext context;
  if (!context) return;
  GpuLimits limits = gpu_limits();
  limits.storage_block_bytes = 6144;
  for (const bool causal : {false, true}) {
    AttentionInputs inputs = sized_inputs(2, 70, 90, 6, 3, 8, 8);
    inputs.options.is_causal = causal;
    check_against_reference(inputs, {.keep_attn_weights = true, .limits = &limits});
  }
}

TEST_CASE("without subgroups, and with the least shared memory that the standard allows, it is the same") {
  const ComputeContext context;
  if (!context) return;
  GpuLimits limits = gpu_limits();
  limits.clustered_subgroups = false;
  limits.shared_bytes = 32768;
  check_against_reference(sized_inputs(1, 200, 200, 2, 2, 64, 64), {.limits = &limits});
  limits.shared_bytes = 49152;  // the larger tile
  if (gpu_limits().shared_bytes >= 49152)
    check_against_reference(sized_inputs(1, 200, 200, 2, 2, 64, 64), {.limits = &limits});
}

TEST_CASE("a boolean mask that blocks whole blocks skips them, but not where a value is no number") {
  const ComputeContext context;
  if (!context) return;
  AttentionInputs inputs = sized_inputs(1, 200, 200, 2, 2, 8, 8);
  Tensor mask(Shape{{"L", 200}, {"S", 200}}, DType::boolean);
  for (Index l = 0; l < 200; ++l)
    for (Index s = 0; s < 200; ++s) mask.set_flat(l * 200 + s, s / 70 != l / 70 ? 1.0 : 0.0);
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
  check_against_reference(inputs);
  Tensor value = *inputs.tensors.value;
  value.set_flat(199 * value.shape().size(2), NAN);
  inputs.tensors.value = std::make_shared<const Tensor>(std::move(value));
  check_against_reference(inputs);
  CHECK(std::isnan(gl_forward(inputs)->tensors.output->flat(0)));
}

TEST_CASE("the same numbers come in one slice and in many") {
  const ComputeContext context;
  if (!context) return;
  const AttentionInputs inputs = sized_inputs(2, 300, 300, 4, 2, 16, 16);
  const TracePtr whole = gl_forward(inputs, {.slice_milliseconds = 1e6});
  const TracePtr cut = gl_forward(inputs, {.slice_milliseconds = 1e-6});
  CHECK(identical(*whole->tensors.output, *cut->tensors.output));
}

TEST_CASE("work that is no longer wanted ends with the next slice") {
  const ComputeContext context;
  if (!context) return;
  std::atomic<bool> cancelled = true;
  const CancelScope scope(cancelled);
  GlForward forward(sized_inputs(1, 300, 300, 2, 2, 16, 16), {.slice_milliseconds = 1e-6});
  CHECK_THROWS_AS(forward.finish(), Error);
  CHECK(forward.progress() < 1.0);
}

TEST_CASE("rows of the weights are made again, the ones that are asked for") {
  const ComputeContext context;
  if (!context) return;
  AttentionInputs inputs = sized_inputs(2, 50, 60, 4, 2, 8, 8);
  inputs.options.is_causal = true;
  GlForward forward(inputs);
  forward.finish();
  const TracePtr expected = reference_forward(inputs);
  const Tensor rows = forward.attn_weights(1, 3, 17, 5);
  REQUIRE(rows.shape().size(0) == 5);
  for (Index l = 0; l < 5; ++l)
    for (Index s = 0; s < 60; ++s)
      CHECK(rows.at({l, s}) ==
            doctest::Approx(expected->tensors.attn_weights->at({1, 3, 17 + l, s})).epsilon(1e-5));
}

TEST_CASE("what the gl backend does not do it says in a sentence") {
  const ComputeContext context;
  if (!context) return;
  const AttentionInputs wide = sized_inputs(1, 3, 3, 1, 1, 300, 8);
  CHECK(gl_refusal(wide, gpu_limits()).find("256") != std::string::npos);
  CHECK_THROWS_WITH_AS(gl_forward(wide), doctest::Contains("reference"), Error);
}
