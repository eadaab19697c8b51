#include "core/tensor/task_threads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/attention/reference_backend.h"
#include "core/attention/stage_cache.h"
#include "core/attention/tensor_names.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"

using namespace headwise;

namespace {

AttentionInputs self_attention(Index length, DType dtype) {
  AttentionInputs inputs;
  inputs.dtype = dtype;
  AttentionOptions& o = inputs.options;
  o.embed_dim = o.kdim = o.vdim = 32;
  o.num_heads = o.num_kv_heads = 4;
  o.head_dim = o.v_head_dim = 8;
  const auto filled = [&](Shape shape) {
    Tensor tensor(std::move(shape), DType::f64);
    for (Index i = 0; double& value : tensor.values<double>()) value = 0.01 * static_cast<double>(i++ % 37);
    return std::make_shared<const Tensor>(tensor.converted(dtype));
  };
  TraceTensors& t = inputs.tensors;
  t.query = t.key = t.value = filled({{"N", 1}, {"L", length}, {"E", 32}});
  t.in_proj_weight = filled({{"3E", 96}, {"E", 32}});
  t.out_proj_weight = filled({{"E", 32}, {"H·Dv", 32}});
  return inputs;
}

bool is_cancelled() {
  try {
    check_cancelled();
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::cancelled);
    return true;
  }
  return false;
}

}  // namespace

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

TEST_CASE("nothing is told where nobody asks") {
  const ProgressPart part(0.0, 1.0, "scores");
  const ProgressPart inner = slice_of_work(1, 2);
}

TEST_CASE("parts lie within the part around them, and what is told never falls") {
  Progress progress;
  const ProgressScope scope(progress);
  CHECK(progress.fraction() == 0.0);
  CHECK(std::string(progress.doing()).empty());
  {
    const ProgressPart half(0.0, 0.5, "scores");
    CHECK(std::string(progress.doing()) == "scores");
    {
      const ProgressPart inner = slice_of_work(1, 2);
      CHECK(progress.fraction() == 0.25);
    }
    CHECK(progress.fraction() == 0.5);
    const ProgressPart again = slice_of_work(0, 2);  // a second pass over the same part
    CHECK(progress.fraction() == 0.5);
  }
  {
    const ProgressPart rest(0.5, 1.0);
    CHECK(std::string(progress.doing()) == "scores");
    const ProgressPart inner = slice_of_work(4, 5);
    CHECK(progress.fraction() == doctest::Approx(0.9));
  }
  CHECK(progress.fraction() == 1.0);
  progress.reset();
  CHECK(progress.fraction() == 0.0);
}

TEST_CASE("tasks tell how many there are still to come, in whichever thread they are done") {
  for (const int threads : {1, 3}) {
    Progress progress;
    const ProgressScope scope(progress);
    const ProgressPart half(0.5, 1.0);
    bool within = true;
    run_tasks(100, threads, [&](Index task, int worker) {
      if (worker == 0)
        within = within && progress.fraction() >= 0.5 + 0.005 * static_cast<double>(task) - 1e-12;
    });
    CHECK(within);
    CHECK(progress.fraction() <= 1.0);
  }
}

TEST_CASE("work of another thread is not told") {
  Progress progress;
  const ProgressScope scope(progress);
  std::thread([] { const ProgressPart all(0.0, 1.0, "elsewhere"); }).join();
  CHECK(progress.fraction() == 0.0);
}

TEST_CASE("a forward and a backward pass reach their end by steps, naming the tensors that they make") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const AttentionInputs inputs = self_attention(24, dtype);
    Progress progress;
    TracePtr trace;
    {
      const ProgressScope scope(progress);
      trace = reference_forward(inputs);
    }
    CHECK(progress.fraction() == doctest::Approx(1.0));
    CHECK(trace->tensor(find_tensor_name(progress.doing()).value()) != nullptr);
    progress.reset();
    {
      const ProgressScope scope(progress);
      reference_backward(*trace);
    }
    CHECK(progress.fraction() == doctest::Approx(1.0));
    CHECK(std::string(progress.doing()) == "query");
  }
}

TEST_CASE("the shares of all stages follow each other from 0 to 1") {
  for (const bool backward : {false, true})
    for (const bool masked : {false, true}) {
      AttentionInputs inputs = self_attention(5, DType::f64);
      inputs.options.is_causal = masked;
      inputs.options.dropout = masked ? 0.1 : 0.0;
      const auto shares = stage_costs(inputs.options, inputs.tensors, backward);
      double sum = 0.0, least = 1.0, most = 0.0;
      for (const auto& [id, share] : shares) {
        CHECK(share.to > share.from);
        sum += share.to - share.from;
        least = std::min(least, share.from);
        most = std::max(most, share.to);
      }
      CHECK(sum == doctest::Approx(1.0));
      CHECK(least == 0.0);
      CHECK(most == doctest::Approx(1.0));
      CHECK(shares.contains(TensorId::mask_bias) == (masked && !backward));
      CHECK(shares.contains(backward ? TensorId::attn_weights : TensorId::dropped_weights) == masked);
    }
}

TEST_CASE("nothing is cancelled where nobody asked for it") {
  CHECK_FALSE(is_cancelled());
}

TEST_CASE("a scope cancels the work of its own thread, and only while it lives") {
  std::atomic<bool> cancelled = false;
  {
    const CancelScope scope(cancelled);
    CHECK_FALSE(is_cancelled());
    cancelled = true;
    CHECK(is_cancelled());
    bool elsewhere = true;
    std::thread([&] { elsewhere = is_cancelled(); }).join();
    CHECK_FALSE(elsewhere);
    std::atomic<bool> inner_cancelled = false;
    {
      const CancelScope inner(inner_cancelled);
      CHECK_FALSE(is_cancelled());
    }
    CHECK(is_cancelled());
  }
  CHECK_FALSE(is_cancelled());
}
