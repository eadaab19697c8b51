#include "app/session/background.h"

#include <exception>
#include <utility>

#include "core/tensor/cancellation.h"

namespace headwise {
namespace {

// Two frames of a usual display, the time that an answer may take. What takes no longer is seen in the frame that asked
// for it, and is not slowed down by that frame being drawn beside it.
constexpr auto short_wait = std::chrono::microseconds(33333);

}  // namespace

Background::Background(std::function<void()> wake) : wake_(std::move(wake)) {}

Background::~Background() {
  cancel();
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Background::start(Job job) {
  cancelled_ = false;
  started_ = std::chrono::steady_clock::now();
  clock_.begin();
  {
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
  }
  busy_ = true;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

std::optional<Background::Result> Background::take() {
  if (!busy_) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, started_ + short_wait, [this] { return result_.has_value(); });
  if (!result_) return std::nullopt;
  busy_ = false;
  return std::exchange(result_, std::nullopt);
}

std::optional<Background::Result> Background::wait_and_take() {
  if (!busy_) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return result_.has_value(); });
  busy_ = false;
  return std::exchange(result_, std::nullopt);
}

void Background::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return quit_ || job_; });
    if (quit_) return;
    const Job job = *std::exchange(job_, std::nullopt);
    lock.unlock();
    Result result{job.number, nullptr, ""};
    try {
      const CancelScope scope(cancelled_);
      const ProgressScope told(clock_.progress());
      result.computation = compute(job.scenario, job.previous.get());
    } catch (const std::exception& error) {
      result.error = error.what();
    }
    lock.lock();
    result_ = std::move(result);
    changed_.notify_all();
    if (wake_) wake_();
  }
}

}  // namespace headwise
