// The fast CPU path against the reference.
#include "core/fused/fused_backend.h"
#include "core/tensor/instruction_set.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/random.h"
#include "core/trace/attention_sizes.h"
#include "core/trace/reference_backend.h"
#include "tests/core/fused/agreement.h"
#include "tests/core/trace/option_combinations.h"

using namespace headwise;
using namespace headwise::test;

namespace {

void check_against_reference(const AttentionInputs& inputs, const FusedRun& run) {
  const TracePtr got = fused_forward(inputs, run);
  check_agrees(*got, *reference_forward(inputs));
  if (run.keep_attn_weights) CHECK(got->tensors.attn_weights);
}

// Null where this machine has not got the instruction set.
const FusedKernels* kernels_here(InstructionSet set) {
  return machine_runs(set) ? &fused_kernels(set) : nullptr;
}

}  // namespace

TEST_CASE("the fused backend agrees with the reference over every option, on every instruction set here") {
  for (const InstructionSet set : instruction_sets()) {
    const FusedKernels* kernels = kernels_here(set);
    if (!kernels) continue;
    CAPTURE(kernels->name);
    for (const NamedInputs& named : single_option_inputs()) {
      CAPTURE(named.name);
      const AttentionInputs inputs = as_f32(named.inputs);
      if (!fused_refusal(inputs).empty()) continue;
      for (const bool keep : {false, true})
        check_against_reference(
            inputs, {.threads = 2, .keep_attn_weights = keep, .keep_projections = keep, .kernels = kernels});
    }
  }
}

TEST_CASE("the fused backend agrees with the reference over options drawn together") {
  int done = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const NamedInputs named = random_combination(seed);
    CAPTURE(named.name);
    const AttentionInputs inputs = as_f32(named.inputs);
    if (!fused_refusal(inputs).empty()) continue;
    const FusedKernels* kernels = kernels_here(instruction_sets()[seed % instruction_sets().size()]);
    check_against_reference(inputs, {.threads = 2, .keep_attn_weights = seed % 2 == 0, .kernels = kernels});
    ++done;
  }
  CHECK(done > 120);
}

TEST_CASE("the fused backend agrees at sizes that fill no panel and no block") {
  for (const Index length : {1, 3, 31, 33, 65, 257}) {
    for (const InstructionSet set : instruction_sets()) {
      const FusedKernels* kernels = kernels_here(set);
      if (!kernels) continue;
      CAPTURE(kernels->name);
      CAPTURE(length);
      AttentionInputs inputs = sized_inputs(2, length, length + 2, 6, 2, 5, 7);
      check_against_reference(inputs, {.threads = 2, .kernels = kernels});
      inputs.options.is_causal = true;
      inputs.options.sliding_window = 9;
      inputs.options.fully_masked_rows = FullyMaskedRows::zero;
      check_against_reference(inputs, {.threads = 2, .keep_attn_weights = true, .kernels = kernels});
    }
  }
}

TEST_CASE("a row of more keys than are scored at once is the same softmax") {
  AttentionInputs inputs = sized_inputs(1, 5, 4500, 2, 1, 8, 8);
  check_against_reference(inputs, {.threads = 1, .keep_attn_weights = true});
  inputs.options.dropout = 0.4;
  inputs.options.dropout_seed = 3;
  check_against_reference(inputs, {.threads = 1, .keep_attn_weights = true});
  inputs.options.alibi = true;
  check_against_reference(inputs, {.threads = 1});
}

TEST_CASE("equal bits for one, two and five threads") {
  const AttentionInputs inputs = sized_inputs(2, 130, 140, 4, 2, 16, 16);
  const TracePtr one = fused_forward(inputs, {.threads = 1, .keep_attn_weights = true});
  for (const int threads : {2, 5}) {
    const TracePtr more = fused_forward(inputs, {.threads = threads, .keep_attn_weights = true});
    CHECK(identical(*more->tensors.output, *one->tensors.output));
    CHECK(identical(*more->tensors.attn_weights, *one->tensors.attn_weights));
  }
}

TEST_CASE("a NaN behind a mask counts as it does in the reference") {
  AttentionInputs inputs = sized_inputs(1, 40, 40, 2, 2, 4, 4);
  Tensor value = *inputs.tensors.value;
  value.set_flat(39 * value.shape().size(2),
                 NAN);  // of the last key, which causal hides from all but the last query
  inputs.tensors.value = std::make_shared<const Tensor>(std::move(value));
  inputs.options.is_causal = true;
  check_against_reference(inputs, {.threads = 2});
  CHECK(std::isnan(fused_forward(inputs)->tensors.output->flat(0)));
}

TEST_CASE("a mask that blocks with a finite number is filled in, on every instruction set here") {
  for (const InstructionSet set : instruction_sets()) {
    AttentionInputs inputs = sized_inputs(1, 70, 200, 4, 2, 8, 8);
    inputs.options.is_causal = true;
    inputs.options.mask_value = -1.0;
    if (const FusedKernels* kernels = kernels_here(set))
      check_against_reference(inputs, {.threads = 2, .keep_attn_weights = true, .kernels = kernels});
  }
}

TEST_CASE("what the fused backend does not do it says in a sentence") {
  AttentionInputs inputs = sized_inputs(1, 3, 3, 2, 2, 4, 4);
  CHECK(fused_refusal(inputs).empty());
  inputs.dtype = DType::f64;
  CHECK(fused_refusal(inputs).find("f32") != std::string::npos);
  inputs = sized_inputs(1, 0, 3, 2, 2, 4, 4);
  CHECK(fused_refusal(inputs).find("at least 1") != std::string::npos);
  CHECK_THROWS_WITH_AS(fused_forward(inputs), doctest::Contains("reference"), Error);
}

TEST_CASE("a run is cancelled soon, at whatever moment, and the next one is whole") {
  const AttentionInputs inputs = sized_inputs(1, 700, 700, 4, 4, 32, 32);
  const auto begun = std::chrono::steady_clock::now();
  const TracePtr expected = fused_forward(inputs, {.threads = 2, .keep_attn_weights = true});
  const auto one_run = std::chrono::steady_clock::now() - begun;  // so that the moments are spread over runs
  for (const int threads : {1, 2, 5}) {
    for (const bool keep : {false, true}) {
      CAPTURE(threads);
      CAPTURE(keep);
      const auto check_whole = [&] {
        const TracePtr whole = fused_forward(inputs, {.threads = threads, .keep_attn_weights = keep});
        CHECK(identical(*whole->tensors.output, *expected->tensors.output));
        if (keep) CHECK(identical(*whole->tensors.attn_weights, *expected->tensors.attn_weights));
      };
      int cancelled_runs = 0;
      for (int run = 0; run < 20; ++run) {
        std::atomic<bool> cancelled = false;
        const CancelScope scope(cancelled);
        std::thread other([&] {
          std::this_thread::sleep_for(one_run * (run * 7919 % 97) / 48);
          cancelled = true;
        });
        try {
          while (true) check_whole();
        } catch (const Error& error) {
          CHECK(error.status() == ExitStatus::cancelled);
          ++cancelled_runs;
        }
        other.join();
      }
      CHECK(cancelled_runs == 20);
      check_whole();
    }
  }
}

TEST_CASE("a run that follows another makes only what changed, and the same bits as one of its own") {
  const AttentionInputs first = sized_inputs(2, 65, 70, 4, 2, 12, 20);
  FusedTasks whole;
  const TracePtr before = fused_forward(first, {.keep_projections = true, .tasks = &whole});
  Index output_alone = 0;
  for (const FollowingInputs& next : following_inputs(first)) {
    CAPTURE(next.name);
    FusedTasks tasks;
    const TracePtr followed =
        fused_forward(next.inputs, {.keep_projections = true, .before = before, .tasks = &tasks});
    if (next.keeps_projections) {
      if (output_alone == 0) output_alone = tasks.projections;
      CHECK(tasks.projections == output_alone);
      CHECK(tasks.projections < whole.projections);
      CHECK(followed->tensors.q == before->tensors.q);
      CHECK(followed->tensors.v == before->tensors.v);
    } else {
      CHECK(tasks.projections == whole.projections);
      CHECK(followed->tensors.q != before->tensors.q);
    }
    CHECK(tasks.attentions == whole.attentions);
    CHECK(identical(*followed->tensors.output, *fused_forward(next.inputs)->tensors.output));
    check_agrees(*followed, *reference_forward(next.inputs));
  }
  // A trace without q, k and v has nothing to be taken over.
  FusedTasks tasks;
  fused_forward(first, {.before = fused_forward(first), .tasks = &tasks});
  CHECK(tasks.projections == whole.projections);
}
