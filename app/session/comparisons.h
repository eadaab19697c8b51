// The comparisons of one trace that are too much work for every frame: layouts, and many heads against one. Small ones are
// there at once, large ones after a while.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/session/asked_work.h"
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
  explicit Comparisons(std::function<void()> wake = {});

  // Those of this trace; null while they are computed, which begins here and never waits. Another trace than before cancels the
  // work for that one.
  std::shared_ptr<const ComputedComparisons> of(const TracePtr& trace);
  // How far what is under way has come, where something is.
  Waiting waiting() const { return work_.waiting(); }
  // Waits for what is under way (tests, and pictures of the window).
  void finish() { work_.finish(); }

 private:
  AskedWork<TracePtr, ComputedComparisons> work_;
};

}  // namespace headwise
