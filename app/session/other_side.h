// What the view Compare holds beside the present trace: a scenario that was pinned, or the present one changed in one thing.
// Computed when it is first asked for: small ones at once, large ones in a thread of its own.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/asked_work.h"
#include "app/session/computation.h"
#include "core/playlist/compare_with.h"

namespace headwise {

struct OtherSide {
  ComputationPtr computation;  // null: there is none, and `why` says so in a sentence
  std::string name;            // over its map: "pinned", "1 head of 128", "without the scale"
  std::string why;
  std::vector<std::string> notes;  // sentences on what else differs, or could not be the same
};
using OtherSidePtr = std::shared_ptr<const OtherSide>;

class OtherSides {
 public:
  // `wake` is called from another thread when a side can be taken; it may be empty.
  explicit OtherSides(std::function<void()> wake = {});

  // The result is held as it is; the scenario may change behind it.
  void pin(ComputationPtr computation) { pinned_ = std::move(computation); }
  const ComputationPtr& pinned() const { return pinned_; }

  // Null while it is computed, which begins here and never waits. What the two sides have in common is shared.
  OtherSidePtr of(const ComputationPtr& present, CompareWith with);
  // Nobody looks: what is under way is cancelled and what was computed is let go; what is pinned stays.
  void rest() { work_.forget(); }
  // How many sides were computed. A pinned one costs nothing.
  int begun() const { return work_.begun(); }
  // How far what is under way has come, where something is.
  Waiting waiting() const { return work_.waiting(); }
  // Waits for what is under way (tests, and pictures of the window).
  void finish() { work_.finish(); }

 private:
  struct Wanted {
    ComputationPtr present;
    CompareWith with{};
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };

  ComputationPtr pinned_;
  AskedWork<Wanted, OtherSide> work_;
};

// The other side of one thing changed, computed here and now; `with` is not `pinned`. Never throws Error: that it could not be
// made is told in `why`.
OtherSide other_side(const Computation& present, CompareWith with);

}  // namespace headwise
