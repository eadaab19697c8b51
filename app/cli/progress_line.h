// How far a long command has come: one line on a terminal, drawn over itself.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "core/tensor/progress.h"

namespace headwise {

// While it lives, the work of this thread is told on the terminal `descriptor`, from `delay` on. Draws nothing where that is no
// terminal. One at a time.
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

// Takes the line off the terminal, so that another can be printed there; it comes back when it is drawn again. Calls only
// what a signal handler may call.
void hide_progress_line() noexcept;

}  // namespace headwise
