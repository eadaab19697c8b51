#include "app/platform/stop_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace headwise {
namespace {

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> stop_wanted = false;
std::atomic<int> stop_pipe = -1;  // its end for writing; −1: nobody waits

// Only what is async-signal-safe: the window's library cannot be called from here.
void want_to_stop(int signal) {
  const int error = errno;
  stop_wanted = true;
  if (const int end = stop_pipe; end >= 0 && write(end, "", 1) < 0) errno = 0;
  std::signal(signal, SIG_DFL);
  errno = error;
}

}  // namespace

StopOnSignals::StopOnSignals(std::function<void()> wake) {
  static_assert(stop_signals.size() == signal_count);
  stop_wanted = false;
  if (wake && pipe2(pipe_, O_CLOEXEC) == 0) {
    waker_ = std::thread([end = pipe_[0], wake = std::move(wake)] {
      char byte;
      for (ssize_t count; (count = read(end, &byte, 1)) != 0;)
        if (count > 0) wake();
    });
    stop_pipe = pipe_[1];
  }
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    before_[i] = std::signal(stop_signals[i], want_to_stop);
    if (before_[i] == SIG_IGN) std::signal(stop_signals[i], SIG_IGN);
  }
}

StopOnSignals::~StopOnSignals() {
  for (std::size_t i = 0; i < stop_signals.size(); ++i) std::signal(stop_signals[i], before_[i]);
  stop_pipe = -1;
  if (!waker_.joinable()) return;
  close(pipe_[1]);  // which ends the thread
  waker_.join();
  close(pipe_[0]);
}

bool StopOnSignals::wanted() {
  return stop_wanted;
}

}  // namespace headwise
