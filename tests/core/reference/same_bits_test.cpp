// The reference gives the same bits however it is computed: on any number of threads,
// with any instruction set.
#include <doctest/doctest.h>

#include <atomic>

#include "core/reference/reference_backend.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/double_kernels.h"
#include "core/tensor/error.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/task_threads.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/trace/option_combinations.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// Large enough that every stage is shared between threads, and of sizes that fill no tile.
AttentionInputs large_inputs(DType dtype) {
  AttentionInputs inputs = random_inputs(small_options(6, 3, 35), {2, 131, 275}, dtype);
  inputs.options.is_causal = true;
  inputs.options.dropout = 0.1;
  return inputs;
}

void check_same_bits(const Trace& a, const Trace& b) {
  for (const bool gradient : {false, true})
    for (const TensorEntry& entry : tensor_entries()) {
      const TensorPtr one = a.tensor({entry.id, gradient}), other = b.tensor({entry.id, gradient});
      REQUIRE(!one == !other);
      if (one) CHECK_MESSAGE(identical(*one, *other), entry.name);
    }
}

TracePtr both_passes(const AttentionInputs& inputs) {
  return reference_backward(*reference_forward(inputs), nullptr, nullptr);
}

}  // namespace

TEST_CASE("the reference gives equal bits for one, two and five threads") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const AttentionInputs inputs = large_inputs(dtype);
    const auto on_threads = [&](int threads) {
      const ThreadLimit limit(threads);
      return both_passes(inputs);
    };
    const TracePtr one = on_threads(1);
    for (const int threads : {2, 5}) check_same_bits(*one, *on_threads(threads));
  }
}

TEST_CASE("the reference gives equal bits with every instruction set that this machine has") {
  std::vector<AttentionInputs> cases{large_inputs(DType::f32), large_inputs(DType::f64)};
  for (const NamedInputs& named : single_option_inputs()) cases.push_back(named.inputs);
  for (const AttentionInputs& inputs : cases) {
    const auto on = [&](InstructionSet set) {
      const DoubleKernelsScope scope(set);
      return both_passes(inputs);
    };
    const TracePtr plain = on(InstructionSet::plain);
    for (const InstructionSet set : instruction_sets())
      if (machine_runs(set)) check_same_bits(*plain, *on(set));
  }
}

TEST_CASE("a product under way notices that it is not wanted any more") {
  const AttentionInputs inputs = large_inputs(DType::f64);
  std::atomic<bool> cancelled = true;
  const CancelScope scope(cancelled);
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    CHECK_THROWS_AS(reference_forward(inputs), Error);
  }
}
