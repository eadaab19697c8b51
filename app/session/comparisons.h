// The comparisons of one trace that are too much work for every frame: layouts, and many heads against one. Small ones are
// there at once, large ones after a while.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "app/session/waiting.h"
#include "core/answers/head_width_comparison.h"
#include "core/answers/layout_comparison.h"

namespace headwise {

struct ComputedComparisons {
  TracePtr trace;  // that they are of
  LayoutComparison layouts;
  HeadWidthComparison head_width;
  std::string error;  // why there are none: they would not fit in memory
};

class Comparisons {
 public:
  // `wake` is called from another thread when comparisons can be taken; it may be empty.
  explicit Comparisons(std::function<void()> wake = {}) : wake_(std::move(wake)) {}
  // Cancels what is under way and waits until it has noticed.
  ~Comparisons();
  Comparisons(const Comparisons&) = delete;
  Comparisons& operator=(const Comparisons&) = delete;

  // Those of this trace; null while they are computed, which begins here. Another trace than before cancels the work for
  // that one.
  std::shared_ptr<const ComputedComparisons> of(const TracePtr& trace);
  // How far what is under way has come, where something is.
  Waiting waiting() const { return thread_.joinable() && !known_ ? clock_.waiting() : Waiting{}; }
  // Waits for what is under way (tests, and pictures of the window).
  void finish();

 private:
  void stop();

  std::function<void()> wake_;
  TracePtr asked_;
  std::shared_ptr<const ComputedComparisons> known_;
  std::mutex mutex_;
  std::shared_ptr<const ComputedComparisons> arrived_;  // written by the thread
  std::atomic<bool> cancelled_ = false;
  WaitingClock clock_;
  std::thread thread_;
};

}  // namespace headwise
