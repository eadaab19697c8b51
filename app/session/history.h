// Undo and redo: a list of Scenarios, bounded in bytes.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// Memory taken by a Scenario, including its texts and lists.
std::size_t scenario_bytes(const Scenario& scenario);

class History {
 public:
  static constexpr std::size_t default_max_bytes = std::size_t{64} << 20U;

  explicit History(Scenario first, std::size_t max_bytes = default_max_bytes);

  const Scenario& current() const { return steps_[at_].scenario; }

  // Adds a step after the current one and discards what could be redone. A Scenario equal to the current one
  // is not a step. With `continues` (a drag or typing under way) it replaces the current step if that has the
  // same label and continues too. The oldest steps are dropped when the total exceeds max_bytes; the current
  // one always stays. Returns true if it was merged this way.
  bool push(Scenario scenario, std::string label, bool continues = false);
  // Adds a step in any case, also where the Scenario equals the current one: a page of a playlist, on which
  // edits begin anew. `unseen`: in place of the current step, a page that was never there to be seen.
  void turn_page(Scenario scenario, std::string label, std::size_t page, bool unseen = false);
  // The drag or the typing is over: what follows is a new step.
  void end_step() { open_ = false; }

  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < steps_.size(); }
  // What undo or redo would revert or repeat: "mute head 5"; empty if there is nothing.
  std::string undo_label() const;
  std::string redo_label() const;
  // A step that undo leads back to, counted from the current one (0), and the label of the edit that led to
  // it; of a turned page also which one it is.
  struct Step {
    const Scenario& scenario;
    const std::string& label;
    const std::optional<std::size_t>& page;
  };
  Step step_back(std::size_t steps) const {
    return {steps_[at_ - steps].scenario, steps_[at_ - steps].label, steps_[at_ - steps].page};
  }
  std::size_t steps_back() const { return at_; }
  // What undo would bring back; null if there is nothing.
  const Scenario* before() const { return can_undo() ? &steps_[at_ - 1].scenario : nullptr; }
  // False if there is nothing to undo or redo.
  bool undo();
  bool redo();

  std::size_t step_count() const { return steps_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Scenario scenario;
    std::string label;  // of the edit that led here
    std::optional<std::size_t> page;
    std::size_t bytes = 0;
  };
  void append(Scenario scenario, std::string label, std::optional<std::size_t> page = std::nullopt);
  void drop_back();
  void drop_oldest();

  std::deque<Entry> steps_;
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;
  std::size_t max_bytes_;
  bool open_ = false;  // the current step may still be continued
};

}  // namespace headwise
