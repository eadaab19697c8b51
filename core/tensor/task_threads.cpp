#include "core/tensor/task_threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/tensor/cancellation.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

thread_local int thread_limit = 0;  // 0: none
thread_local bool in_task = false;

// Per range, in multiply-adds: some tens of microseconds. Waking a thread takes a few.
constexpr double range_cost = 1e5;

// How often a thread polls before it yields its processor: some microseconds.
constexpr int looks = 200;

void pause_once() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Calls ready() until it returns true.
template <class F>
void wait_until(F&& ready) {
  for (int i = 0; !ready(); ++i) {
    if (i < looks) {
      pause_once();
    } else {
      std::this_thread::yield();
    }
  }
}

// Tasks are numbered through all phases and taken in this order,
// so that any task waited for is already running.
class Work {
 public:
  Work(std::span<const TaskPhase> phases, int threads)
      : phases_(phases), at_(static_cast<std::size_t>(threads)), cancelled_(watched_cancellation()) {
    for (const TaskPhase& phase : phases) count_ += phase.count;
    for (std::atomic<Index>& at : at_) at = count_;
  }

  // The work of one thread.
  void take(int worker) {
    const CancelScope scope(cancelled_);
    std::atomic<Index>& at = at_[static_cast<std::size_t>(worker)];
    // before it takes a task: whoever waits for earlier tasks must see that this thread may be doing one
    at = 0;
    std::size_t phase = 0;
    Index first = 0;  // of this phase
    try {
      while (!stop_.load(std::memory_order_relaxed)) {
        check_cancelled();
        const Index task = next_++;
        at = task;
        while (phase < phases_.size() && task >= first + phases_[phase].count)
          first += phases_[phase++].count;
        if (phase == phases_.size()) break;
        const Index needed = needed_by(phase, first, task);
        wait_until([&] { return all_are_at(needed) || stop_.load(std::memory_order_relaxed); });
        if (stop_.load(std::memory_order_relaxed)) break;
        const ProgressPart part = slice_of_work(task, count_);  // threads of the pool record no progress
        phases_[phase].body(task - first, worker);
      }
    } catch (...) {
      fail(std::current_exception());
    }
    at = count_;
  }

  Index count() const { return count_; }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // All tasks before the returned one must be done.
  Index needed_by(std::size_t phase, Index first, Index task) const {
    if (phase == 0 || !phases_[phase].needs) return first;
    const Index before = phases_[phase - 1].count;
    return first - before + std::clamp<Index>(phases_[phase].needs(task - first), 0, before);
  }

  // Each thread takes tasks in ascending order:
  // none before `task` is running once all threads have reached it.
  bool all_are_at(Index task) const {
    return std::ranges::all_of(at_, [task](const std::atomic<Index>& at) { return at >= task; });
  }

  void fail(std::exception_ptr why) {
    const std::lock_guard lock(failing_);
    if (!failure_) failure_ = std::move(why);
    stop_ = true;
  }

  std::span<const TaskPhase> phases_;
  Index count_ = 0;                     // tasks of all phases
  std::vector<std::atomic<Index>> at_;  // the task of each thread; count_ for an idle one
  const std::atomic<bool>* cancelled_;
  std::atomic<Index> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex failing_;
  std::exception_ptr failure_;
};

class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // False if another caller is being served.
  bool run(Work& work, int threads) {
    const std::unique_lock one_caller(callers_, std::try_to_lock);
    if (!one_caller) return false;
    {
      const std::lock_guard lock(mutex_);
      while (static_cast<int>(threads_.size()) < threads - 1) {
        const int worker = static_cast<int>(threads_.size()) + 1;
        threads_.emplace_back([this, worker] { serve(worker); });
      }
      work_ = &work;
      wanted_ = threads;
      ++round_;
    }
    wake_.notify_all();
    in_task = true;
    work.take(0);
    in_task = false;
    {
      // Waking up takes longer than most last tasks:
      // neither this thread nor the others sleep immediately when they wait.
      std::unique_lock lock(mutex_, std::defer_lock);
      wait_until([&] { return lock.try_lock(); });
      work_ = nullptr;  // threads that have not joined yet need not join any more
    }
    int busy = busy_.load(std::memory_order_acquire);
    for (int i = 0; busy > 0 && i < looks; ++i, busy = busy_.load(std::memory_order_acquire)) pause_once();
    for (; busy > 0; busy = busy_.load(std::memory_order_acquire))
      busy_.wait(busy, std::memory_order_acquire);
    return true;
  }

 private:
  void serve(int worker) {
    in_task = true;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return ending_ || round_ != seen; });
      if (ending_) return;
      seen = round_;
      if (!work_ || worker >= wanted_) continue;
      Work& work = *work_;
      ++busy_;
      lock.unlock();
      work.take(worker);
      busy_.fetch_sub(1, std::memory_order_release);  // the caller may continue and destroy `work`
      busy_.notify_all();
      lock.lock();
    }
  }

  std::mutex callers_, mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
  Work* work_ = nullptr;
  int wanted_ = 0;
  std::atomic<int> busy_{0};  // raised under the mutex
  std::uint64_t round_ = 0;
  bool ending_ = false;
};

}  // namespace

ThreadLimit::ThreadLimit(int threads) : outer_(std::exchange(thread_limit, threads)) {}

ThreadLimit::~ThreadLimit() {
  thread_limit = outer_;
}

int available_threads() {
  if (thread_limit > 0) return thread_limit;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

TaskPhase together(std::vector<TaskPhase> kinds) {
  TaskPhase phase;
  for (const TaskPhase& kind : kinds) phase.count += kind.count;
  phase.body = [kinds = std::move(kinds)](Index task, int worker) {
    for (const TaskPhase& kind : kinds) {
      if (task < kind.count) return kind.body(task, worker);
      task -= kind.count;
    }
  };
  return phase;
}

void run_phases(std::span<const TaskPhase> phases, int threads) {
  threads = std::max(threads, 1);
  Work work(phases, threads);
  threads = static_cast<int>(std::min<Index>(threads, work.count()));
  static Pool pool;
  if (threads <= 1 || in_task || !pool.run(work, threads)) work.take(0);
  work.rethrow();
}

void run_tasks(Index count, int threads, const std::function<void(Index task, int worker)>& body) {
  const TaskPhase phase{count, body};
  run_phases(std::span(&phase, 1), threads);
}

void for_ranges(Index count, double cost, const std::function<void(Index first, Index last)>& body) {
  if (count <= 0) return;
  const auto length = std::max<Index>(1, static_cast<Index>(range_cost / std::max(cost, 1e-3)));
  const Index ranges = (count + length - 1) / length;
  const int threads = ranges < 4 ? 1 : available_threads();
  run_tasks(ranges, threads,
            [&](Index range, int) { body(range * length, std::min(count, (range + 1) * length)); });
}

}  // namespace headwise
