#include "core/fused/head_shares.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/tensor/task_threads.h"

using namespace headwise;

TEST_CASE("every head is made ready once and before its tasks, each of which is given once") {
  for (const int threads : {1, 2, 3, 5}) {
    for (const Index heads : {1, 4, 7}) {
      for (const Index tasks : {1, 3, 20}) {
        CAPTURE(threads);
        CAPTURE(heads);
        CAPTURE(tasks);
        HeadShares shares(heads, tasks, threads);
        std::vector<std::atomic<int>> made(static_cast<std::size_t>(heads)),
            done(static_cast<std::size_t>(heads * tasks));
        std::atomic<bool> early = false;
        run_tasks(heads * tasks, threads, [&](Index, int worker) {
          const Index task = shares.next(worker, [&](Index head) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            ++made[static_cast<std::size_t>(head)];
          });
          if (made[static_cast<std::size_t>(task / tasks)] != 1) early = true;
          ++done[static_cast<std::size_t>(task)];
        });
        CHECK_FALSE(early);
        CHECK(std::ranges::all_of(made, [](const auto& times) { return times == 1; }));
        CHECK(std::ranges::all_of(done, [](const auto& times) { return times == 1; }));
      }
    }
  }
}

TEST_CASE("each thread begins with heads of its own, and goes on with what others have left") {
  HeadShares shares(4, 2, 2);
  std::vector<Index> made;
  const auto make_ready = [&](Index head) { made.push_back(head); };
  CHECK(shares.next(0, make_ready) == 0);
  CHECK(shares.next(1, make_ready) == 4);
  CHECK(made == std::vector<Index>{0, 2});
  for (const Index task : {1, 2, 3, 5, 6, 7}) CHECK(shares.next(0, make_ready) == task);
  CHECK(made == std::vector<Index>{0, 2, 1, 3});
}

TEST_CASE("a head that cannot be made ready ends the work with its own error, in all threads") {
  HeadShares shares(2, 50, 3);
  CHECK_THROWS_WITH_AS(run_tasks(100, 3,
                                 [&](Index, int worker) {
                                   shares.next(worker, [](Index) {
                                     std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                     throw std::runtime_error("no keys");
                                   });
                                 }),
                       "no keys", std::runtime_error);
}
