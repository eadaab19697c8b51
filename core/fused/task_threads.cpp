#include "core/fused/task_threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/tensor/cancellation.h"

namespace headwise {
namespace {

struct Work {
  Index count = 0;
  const std::function<void(Index, int)>* body = nullptr;
  std::atomic<Index> next{0};
  std::atomic<bool> stop{false};
  std::mutex failing;
  std::exception_ptr failure;

  void fail(std::exception_ptr why) {
    const std::lock_guard lock(failing);
    if (!failure) failure = std::move(why);
    stop = true;
  }

  void take(int worker, bool cancellable) {
    try {
      while (!stop.load(std::memory_order_relaxed)) {
        if (cancellable) check_cancelled();
        const Index task = next.fetch_add(1, std::memory_order_relaxed);
        if (task >= count) return;
        (*body)(task, worker);
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }
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

  void run(Work& work, int threads) {
    const std::lock_guard one_caller(callers_);
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
    work.take(0, true);
    std::unique_lock lock(mutex_);
    work_ = nullptr;  // who has not come yet need not come any more
    done_.wait(lock, [&] { return busy_ == 0; });
  }

 private:
  void serve(int worker) {
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
      work.take(worker, false);
      lock.lock();
      if (--busy_ == 0) done_.notify_all();
    }
  }

  std::mutex callers_, mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  Work* work_ = nullptr;
  int wanted_ = 0, busy_ = 0;
  std::uint64_t round_ = 0;
  bool ending_ = false;
};

}  // namespace

int available_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void run_tasks(Index count, int threads, const std::function<void(Index task, int worker)>& body) {
  Work work;
  work.count = count;
  work.body = &body;
  threads = static_cast<int>(std::min<Index>(threads, count));
  if (threads <= 1) {
    work.take(0, true);
  } else {
    static Pool pool;
    pool.run(work, threads);
  }
  if (work.failure) std::rethrow_exception(work.failure);
}

}  // namespace headwise
