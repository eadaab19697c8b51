#include "core/fused/interleaved_runs.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "core/attention/reference_backend.h"
#include "core/fused/attention_work.h"
#include "core/fused/fused_backend.h"
#include "core/fused/machine_speed.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/tensor.h"
#include "tests/core/fused/agreement.h"

using namespace headwise;
using namespace headwise::test;

TEST_CASE("the median is the number in the middle, or the mean of the two") {
  CHECK(median({3.0, 1.0, 2.0}) == 2.0);
  CHECK(median({4.0, 1.0, 2.0, 3.0}) == 2.5);
}

TEST_CASE("pieces of work are done in turns, and each knows its times and the peak of its threads") {
  int slow = 0, large = 0;
  const std::vector<TimedWork> work{{[&] {
                                       ++slow;
                                       std::this_thread::sleep_for(std::chrono::milliseconds(6));
                                     },
                                     1, 3},
                                    {[&] {
                                       const Tensor tensor(Shape{{"x", Index{16} << 20}}, DType::f32);
                                       large += tensor.flat(5) == 0.0;
                                     },
                                     2, 7}};
  const std::vector<Timing> timings = time_in_turns(work);
  CHECK(slow == 8);  // for its memory, for its length, and three times after a run that is not measured
  CHECK(large >= 9);
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].least_seconds >= 0.006);
  for (const Timing& timing : timings) {
    CHECK(timing.median_seconds >= timing.least_seconds);
    CHECK(timing.peak_gflops > 0.0);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(timings[1].extra_mib > 60.0);  // 64 MiB
  CHECK(timings[1].extra_mib < 80.0);
#endif
}

TEST_CASE("the rounds of a piece are spread over those of the others") {
  std::string order;
  const auto slow = [&order](char name) {
    return [&order, name] {
      order += name;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
  };
  time_in_turns(std::vector<TimedWork>{{slow('a'), 1, 4}, {slow('b'), 1, 2}});
  CHECK(order ==
        "aabb"
        "aa"
        "aabb"
        "aa"
        "aabb");  // first for memory and length
}

TEST_CASE("a piece that does not run on the processor brings its own peak, measured in each of its rounds") {
  int measured = 0;
  const std::vector<TimedWork> work{{[] {}, 1, 3, [&] { return 1000.0 * ++measured; }}, {[] {}, 1, 2}};
  const std::vector<Timing> timings = time_in_turns(work);
  CHECK(measured == 3);
  CHECK(timings[0].peak_gflops == 2000.0);  // the median
  CHECK(timings[1].peak_gflops > 0.0);
}

TEST_CASE("timing ends where it is cancelled") {
  std::atomic<bool> cancelled = false;
  const CancelScope scope(cancelled);
  const std::vector<TimedWork> work{{[&] { cancelled = true; }, 1, 1000000}};
  CHECK_THROWS_AS(time_in_turns(work), Error);
}

TEST_CASE("the machine copies, and multiplies and adds") {
  CHECK(copy_bandwidth_gbs(2) > 0.0);
  CHECK(fma_peak_gflops(2, 0.001) > 0.0);
}

TEST_CASE("the work of a module is that of its projections and of the pairs that see each other") {
  AttentionInputs inputs = sized_inputs(2, 5, 5, 4, 2, 3, 3);
  // q and out 12 × 12, k and v 12 × 6; 4 heads of 3 numbers in q·k and in the weighted sum.
  const double projections = 2.0 * 2 * 5 * 12 * (12 + 6 + 6 + 12);
  CHECK(attention_flops(inputs) == projections + 2.0 * 2 * 25 * 4 * 6);
  inputs.options.is_causal = true;
  CHECK(attention_flops(inputs) == projections + 2.0 * 2 * 15 * 4 * 6);
}

TEST_CASE("an output is compared whole where it is small, and in its last queries where it is large") {
  for (const Index length : {20, 700}) {
    CAPTURE(length);
    AttentionInputs inputs = sized_inputs(1, length, length, 5, 5, 4, 4);
    inputs.options.is_causal = true;
    Tensor output = *fused_forward(inputs)->tensors.output;
    CHECK(difference_from_reference(inputs, output) < 1e-5);
    output.set_flat(output.size() - 1, output.flat(output.size() - 1) + 1.0);
    CHECK(difference_from_reference(inputs, output) == doctest::Approx(1.0).epsilon(1e-3));
  }
}

TEST_CASE("the reference differs from itself by nothing") {
  const AttentionInputs inputs = sized_inputs(1, 9, 9, 2, 2, 4, 4);
  CHECK(difference_from_reference(inputs, *reference_forward(inputs)->tensors.output) == 0.0);
}
