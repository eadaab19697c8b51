#include "app/session/worker.h"

#include <utility>

#include "core/tensor/cancellation.h"

namespace headwise {

Worker::Worker(std::function<void()> wake) : wake_(std::move(wake)) {}

Worker::~Worker() {
  stop();
}

void Worker::start(std::function<void()> work) {
  finish();
  done_ = false;
  cancelled_ = false;
  started_ = std::chrono::steady_clock::now();
  clock_.begin();
  thread_ = std::thread([this, work = std::move(work)] {
    {
      const CancelScope scope(cancelled_);
      const ProgressScope progress_scope(clock_.progress());
      work();
    }
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    if (wake_) wake_();
  });
}

bool Worker::ended(std::chrono::microseconds patience) {
  if (!busy()) return false;
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, started_ + patience, [this] { return done_; })) return false;
  }
  thread_.join();
  return true;
}

bool Worker::finish() {
  if (!busy()) return false;
  thread_.join();
  return true;
}

void Worker::stop() {
  cancel();
  finish();
}

}  // namespace headwise
