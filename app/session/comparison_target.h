// What the Compare view shows next to the present trace: a pinned scenario, or the present one with one thing
// changed. Computed when first requested: small ones at once, large ones in a thread of its own.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/async_query.h"
#include "app/session/computation.h"
#include "core/lessons/head_width_comparison.h"
#include "core/lessons/layout_comparison.h"
#include "core/lessons/stage_view.h"

namespace headwise {

struct ComparisonTarget {
  ComputationPtr computation;  // null: there is none, and `why` says why, in a sentence
  std::string name;            // above its map: "pinned", "1 head of 128", "without the scale"
  std::string why;
  std::vector<std::string> notes;  // sentences on what else differs, or could not be kept the same
};
using ComparisonTargetPtr = std::shared_ptr<const ComparisonTarget>;

class ComparisonTargets {
 public:
  // `wake` is called from another thread when a side is available; it may be empty.
  explicit ComparisonTargets(std::function<void()> wake = {});

  // The result is kept as it is; the scenario may change afterwards.
  void pin(ComputationPtr computation) { pinned_ = std::move(computation); }
  const ComputationPtr& pinned() const { return pinned_; }

  // Null while it is computed, which starts here and never waits.
  // What the two sides have in common is shared.
  ComparisonTargetPtr of(const ComputationPtr& present, CompareWith with);
  // Nothing is needed: cancels the work under way and releases what was computed; the pinned one stays.
  void suspend() { work_.forget(); }
  // How many sides were computed. A pinned one costs nothing.
  int begun() const { return work_.begun(); }
  // Progress of the work under way, if any.
  Waiting waiting() const { return work_.waiting(); }
  // Waits for the work under way (tests, and pictures of the window).
  void finish() { work_.finish(); }

 private:
  struct Wanted {
    ComputationPtr present;
    CompareWith with{};
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };

  ComputationPtr pinned_;
  AsyncQuery<Wanted, ComparisonTarget> work_;
};

// The other side with one thing changed, computed synchronously; `with` is not `pinned`. Never throws Error:
// failure is reported in `why`.
ComparisonTarget comparison_target(const Computation& present, CompareWith with);

// The comparisons of one trace that are too expensive for every frame: layouts, and many heads against one.
// Small ones are ready at once, large ones after a while.
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
