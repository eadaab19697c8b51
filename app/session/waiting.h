// What the user is told while something is computed in the background.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "core/tensor/progress.h"

namespace headwise {

// Shorter waits are not worth reporting, and a display that changes just for them is restless.
inline constexpr double seconds_before_told = 0.3;
// Interval at which the reported progress is updated.
inline constexpr double seconds_between_words = 0.1;

struct Waiting {
  double seconds = 0.0;   // since it began
  double fraction = 0.0;  // 0 … 1
  const char* doing = "";

  bool told() const { return seconds >= seconds_before_told; }
  // ": attn_weights, 43 %", to append to a description of the work; empty if it is too early to report.
  std::string text() const {
    if (!told()) return "";
    return fmt::format(": {}{}{:.0f} %", doing, *doing ? ", " : "", 100.0 * std::min(fraction, 1.0));
  }
};

// Tracks the progress of one piece of work after another. Only its owner's thread calls begin() and waiting().
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

}  // namespace headwise
