// What a person is told while something is computed in the background.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "core/tensor/progress.h"

namespace headwise {

// Shorter waits are not worth a word, and a picture that changes only for them is restless.
inline constexpr double seconds_before_told = 0.3;
// So often what is told is brought up to date.
inline constexpr double seconds_between_words = 0.1;

struct Waiting {
  double seconds = 0.0;   // since it began
  double fraction = 0.0;  // 0 … 1
  const char* doing = "";

  bool told() const { return seconds >= seconds_before_told; }
  // ": attn_weights, 43 %", to be put behind what it belongs to; empty where it is not worth a word yet.
  std::string text() const {
    if (!told()) return "";
    return fmt::format(": {}{}{:.0f} %", doing, *doing ? ", " : "", 100.0 * std::min(fraction, 1.0));
  }
};

// Tells how far one piece of work after the other has come. Only its owner's thread calls begin() and waiting().
class WaitingClock {
 public:
  // While no thread writes to the progress of what was before.
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
