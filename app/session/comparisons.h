// The comparisons of one trace that are too expensive for every frame: layouts, and many heads against one.
// Small ones are ready at once, large ones after a while.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/session/async_query.h"
#include "core/answers/head_width_comparison.h"
#include "core/answers/layout_comparison.h"

namespace headwise {

struct ComputedComparisons {
  TracePtr trace;  // the trace compared
  LayoutComparison layouts;
  HeadWidthComparison head_width;
  std::string error;  // why there are none: they would not fit in memory
};

class Comparisons {
 public:
  // `wake` is called from another thread when comparisons can be taken; it may be empty.
  explicit Comparisons(std::function<void()> wake = {});

  // The comparisons for this trace; null while they are computed, which starts here and never waits. A
  // different trace cancels the work for the previous one.
  std::shared_ptr<const ComputedComparisons> of(const TracePtr& trace);
  // Progress of the work under way, if any.
  Waiting waiting() const { return work_.waiting(); }
  // Waits for the work under way (tests, and pictures of the window).
  void finish() { work_.finish(); }

 private:
  AsyncQuery<TracePtr, ComputedComparisons> work_;
};

}  // namespace headwise
