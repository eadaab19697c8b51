#include "core/bench/interleaved_runs.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "core/bench/machine_speed.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

using namespace headwise;

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
