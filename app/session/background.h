// One computation at a time in a thread of its own, so that the window stays alive meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/session/computation.h"
#include "app/session/waiting.h"

namespace headwise {

class Background {
 public:
  struct Job {
    std::uint64_t number = 0;  // the caller's; comes back with the result
    Scenario scenario;
    ComputationPtr previous;  // to share with; may be null
  };
  struct Result {
    std::uint64_t number = 0;
    ComputationPtr computation;  // null: it failed
    std::string error;           // why
  };

  // `wake` is called from the thread as soon as a result can be taken; it may be empty.
  explicit Background(std::function<void()> wake = {});
  // Cancels the computation that is under way and waits until it has noticed.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Not while busy(). The thread starts with the first job.
  void start(Job job);
  // Ends the computation under way before its time; its result, soon to be taken, is an error.
  void cancel() { cancelled_ = true; }
  // How long it has been under way, and how far it has come; nothing of that where nothing is.
  Waiting waiting() const { return busy_ ? clock_.waiting() : Waiting{}; }
  // From start() until the result was taken.
  bool busy() const { return busy_; }
  std::optional<Result> take();
  // The same, but waits for it; none only where nothing was started.
  std::optional<Result> wait_and_take();

 private:
  void run();

  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Job> job_;
  std::optional<Result> result_;
  bool quit_ = false;
  std::atomic<bool> cancelled_ = false;
  std::chrono::steady_clock::time_point started_;
  WaitingClock clock_;
  bool busy_ = false;  // read and written by the caller's thread only
  std::thread thread_;
};

}  // namespace headwise
