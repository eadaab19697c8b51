#include "core/tensor/task_threads.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"

using namespace headwise;

TEST_CASE("every task is done once, for any number of threads") {
  for (const int threads : {1, 2, 5, 100}) {
    std::vector<std::atomic<int>> done(37);
    run_tasks(37, threads, [&](Index task, int worker) {
      CHECK((worker >= 0 && worker < threads));
      ++done[static_cast<std::size_t>(task)];
    });
    for (const std::atomic<int>& count : done) CHECK(count == 1);
  }
}

TEST_CASE("no task of a phase begins before all of the phase before it are done, for any number of threads") {
  for (const int threads : {1, 2, 5}) {
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> first = 0, second = 0, third = 0;
      run_phases(std::vector<TaskPhase>{{7, [&](Index, int) { ++first; }},
                                        {0, [](Index, int) { CHECK(false); }},
                                        {3,
                                         [&](Index, int) {
                                           CHECK(first == 7);
                                           ++second;
                                         }},
                                        {5,
                                         [&](Index, int) {
                                           CHECK(second == 3);
                                           ++third;
                                         }}},
                 threads);
      CHECK(third == 5);
    }
  }
}

TEST_CASE(
    "a task that needs some tasks of the phase before begins when these are done, and all of the phases "
    "before") {
  for (const int threads : {1, 2, 5}) {
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> earlier = 0;
      std::vector<std::atomic<int>> done(12);
      std::atomic<int> last = 0;
      run_phases(
          std::vector<TaskPhase>{{5, [&](Index, int) { ++earlier; }},
                                 {12, [&](Index task, int) { done[static_cast<std::size_t>(task)] = 1; }},
                                 {6,
                                  [&](Index task, int) {
                                    CHECK(earlier == 5);
                                    for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(task); ++i)
                                      CHECK(done[i] == 1);
                                    ++last;
                                  },
                                  [](Index task) { return 2 * task; }},
                                 {1, [&](Index, int) { CHECK(last == 6); }, [](Index) { return Index{100}; }}},
          threads);
    }
  }
}

TEST_CASE("who needs nothing of the phase before goes on while a task of it is under way") {
  std::atomic<bool> free = false;
  run_phases(std::vector<TaskPhase>{{2,
                                     [&](Index task, int) {
                                       while (task == 1 && !free) std::this_thread::yield();
                                     }},
                                    {1, [&](Index, int) { free = true; }, [](Index) { return Index{1}; }}},
             2);
  CHECK(free);
}

TEST_CASE("what a task of an early phase throws ends those who wait for it") {
  for (const int threads : {1, 2, 5}) {
    CHECK_THROWS_AS(run_phases(std::vector<TaskPhase>{{4,
                                                       [](Index task, int) {
                                                         if (task == 2) throw std::runtime_error("no");
                                                       }},
                                                      {4, [](Index, int) { CHECK(false); }}},
                               threads),
                    std::runtime_error);
  }
}

TEST_CASE("a task can ask whether the caller's work is still wanted, in every thread") {
  std::atomic<bool> cancelled = false;
  const CancelScope scope(cancelled);
  std::atomic<int> asked = 0;
  CHECK_THROWS_AS(run_tasks(2, 2,
                            [&](Index, int) {
                              ++asked;
                              cancelled = true;
                              while (true) check_cancelled();
                            }),
                  Error);
  CHECK(asked >= 1);
}

TEST_CASE("ranges cover everything once, cheap or dear") {
  for (const double cost : {0.0, 1.0, 1e4, 1e9})
    for (const Index count : {0, 1, 100, 100003}) {
      const ThreadLimit limit(3);
      std::atomic<Index> covered = 0, sum = 0;
      for_ranges(count, cost, [&](Index first, Index last) {
        CHECK(first < last);
        covered += last - first;
        for (Index i = first; i < last; ++i) sum += i;
      });
      CHECK(covered == count);
      CHECK(sum == count * (count - 1) / 2);
    }
}

TEST_CASE("a limit of threads holds in its own thread and while it lives") {
  const int there = available_threads();
  {
    const ThreadLimit limit(7);
    CHECK(available_threads() == 7);
    std::thread([&] { CHECK(available_threads() == there); }).join();
  }
  CHECK(available_threads() == there);
}

TEST_CASE("a task may begin tasks of its own, and two callers do not wait for each other") {
  std::atomic<int> inner = 0;
  run_tasks(4, 2, [&](Index, int) { run_tasks(5, 2, [&](Index, int) { ++inner; }); });
  CHECK(inner == 20);

  // The first caller's task ends only when the second caller is through.
  std::atomic<bool> second_is_through = false;
  std::thread first([&] {
    run_tasks(2, 2, [&](Index, int) {
      while (!second_is_through) std::this_thread::yield();
    });
  });
  std::atomic<int> done = 0;
  run_tasks(8, 2, [&](Index, int) { ++done; });
  CHECK(done == 8);
  second_is_through = true;
  first.join();
}

TEST_CASE("what a task throws ends the work and is thrown, and so is a cancellation") {
  for (const int threads : {1, 2}) {
    std::atomic<Index> begun = 0;
    CHECK_THROWS_AS(run_tasks(100000, threads,
                              [&](Index task, int) {
                                ++begun;
                                if (task == 3) throw std::runtime_error("here");
                              }),
                    std::runtime_error);
    CHECK(begun < 100000);

    std::atomic<bool> cancelled = false;
    const CancelScope scope(cancelled);
    begun = 0;
    CHECK_THROWS_AS(run_tasks(Index{1} << 40, threads,
                              [&](Index, int) {
                                if (++begun == 10) cancelled = true;
                              }),
                    Error);
  }
}
