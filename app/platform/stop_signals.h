// Ctrl+C, SIGTERM and SIGHUP as a request to end that work under way can answer.
#pragma once

#include <functional>
#include <iterator>
#include <thread>

namespace headwise {

// While it lives the first of these signals makes wanted() true; the second ends the process as usual. A
// signal that was ignored before (nohup) stays so. One at a time.
class StopOnSignals {
 public:
  // `wake`, where given, is called from another thread soon after the signal.
  explicit StopOnSignals(std::function<void()> wake = {});
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

  static bool wanted();

 private:
  static constexpr int signal_count = 3;
  void (*before_[signal_count])(int) = {};
  int pipe_[2] = {-1, -1};
  std::thread waker_;
};

}  // namespace headwise
