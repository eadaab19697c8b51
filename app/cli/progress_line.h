// Progress of a long command: one line on a terminal, redrawn in place.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "core/tensor/progress.h"

namespace headwise {

// While it lives, reports the progress of this thread's work on the terminal `descriptor`, after `delay`.
// Draws nothing if that is not a terminal. One at a time.
class ProgressLine {
 public:
  ProgressLine(int descriptor, std::string name, std::chrono::milliseconds delay = std::chrono::seconds(1));
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void draw(std::chrono::milliseconds delay, const std::stop_token& stop);

  int descriptor_;
  std::string name_;
  Progress progress_;
  ProgressScope scope_;
  std::jthread thread_;
};

// Erases the line from the terminal, so that another can be printed there; it reappears at the next redraw.
// Async-signal-safe.
void hide_progress_line() noexcept;

}  // namespace headwise
