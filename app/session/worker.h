// Work in a thread of its own, so that the window stays responsive: one piece at a time, cancellable and with
// progress. Everything that the session computes in the background goes through a Worker.
// Only its owner's thread calls it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "core/tensor/progress.h"

namespace headwise {

// What the user is told while something is computed in the background.

// Shorter waits are not worth reporting, and a display that changes just for them is restless.
inline constexpr double long_wait_seconds = 0.3;
// Interval at which the reported progress is updated.
inline constexpr double seconds_between_words = 0.1;

struct Waiting {
  double seconds = 0.0;   // since it began
  double fraction = 0.0;  // 0 … 1
  const char* doing = "";

  bool is_long() const { return seconds >= long_wait_seconds; }
  // ": attn_weights, 43 %", to append to a description of the work; empty if it is too early to report.
  std::string text() const {
    if (!is_long()) return "";
    return fmt::format(": {}{}{:.0f} %", doing, *doing ? ", " : "", 100.0 * std::min(fraction, 1.0));
  }
};

// Tracks the progress of one piece of work after another. Only its owner's thread calls begin()
// and waiting().
class WaitingClock {
 public:
  // Call only while no thread writes to the progress of the previous work.
  void begin() {
    started_ = std::chrono::steady_clock::now();
    progress_.reset();
  }
  Progress& progress() { return progress_; }
  Waiting waiting() const {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count(),
            progress_.fraction(), progress_.doing()};
  }

 private:
  std::chrono::steady_clock::time_point started_;
  Progress progress_;
};

// Only its owner's thread calls it.
class Worker {
 public:
  // `wake` is called from the worker thread as soon as work has ended; it may be empty.
  explicit Worker(std::function<void()> wake = {});
  // Calls stop().
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Starts `work`, which must not throw and finds the thread's cancellation and progress set up
  // (core/tensor/cancellation.h, progress.h). What it writes may be read once its end was taken in. Waits for
  // work that is still under way.
  void start(std::function<void()> work);
  // Asks the work under way to end early.
  void cancel() { cancelled_ = true; }
  // Whether the work started last was asked to.
  bool cancelled() const { return cancelled_; }
  // True from start() until the end was taken in, by one of the next three.
  bool busy() const { return thread_.joinable(); }
  // Takes in the end of the work: true once per start(). Waits for it until `patience` after the start,
  // no longer.
  bool ended(std::chrono::microseconds patience = {});
  // The same, but waits as long as it takes; false only if no work was under way.
  bool finish();
  // Cancels the work under way and waits until it has ended.
  void stop();
  // Elapsed time and progress of the work under way; zero if there is none.
  Waiting waiting() const { return busy() ? clock_.waiting() : Waiting{}; }

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::atomic<bool> cancelled_ = false;
  std::chrono::steady_clock::time_point started_;
  WaitingClock clock_;
  std::thread thread_;
};

// Calls `make` and returns the reason if it threw, else an empty string. `no_memory`: the sentence for
// running out of memory.
template <class Make>
std::string error_of(Make&& make,
                     const char* no_memory = "this does not fit in memory: make the text shorter") {
  try {
    make();
  } catch (const std::bad_alloc&) {
    return no_memory;
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace headwise
