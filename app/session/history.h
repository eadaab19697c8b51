// Undo and redo: a list of Scenarios, bounded in bytes.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "core/scenario/scenario.h"

namespace headwise {

// What a Scenario takes in memory, its texts and lists included.
std::size_t scenario_bytes(const Scenario& scenario);

class History {
 public:
  static constexpr std::size_t default_max_bytes = std::size_t{64} << 20U;

  explicit History(Scenario first, std::size_t max_bytes = default_max_bytes);

  const Scenario& current() const { return steps_[at_].scenario; }

  // A new step behind the current one; what could be redone is forgotten. A Scenario equal to the current one
  // is no step. With `continues` (a drag or typing under way) it replaces the current step where that has the
  // same label and continues too. The oldest steps go when all together exceed max_bytes; the current one
  // always stays. True where it was merged so.
  bool push(Scenario scenario, std::string label, bool continues = false);
  // The drag or the typing is over: what follows is a step of its own.
  void end_step() { open_ = false; }

  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < steps_.size(); }
  // What undo or redo would take back or do again: "mute head 5"; empty where there is nothing.
  std::string undo_label() const;
  std::string redo_label() const;
  // False where there is nothing to undo or redo.
  bool undo();
  bool redo();

  std::size_t step_count() const { return steps_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Scenario scenario;
    std::string label;  // of the edit that led here
    std::size_t bytes = 0;
  };
  void append(Scenario scenario, std::string label);
  void drop_back();

  std::deque<Entry> steps_;
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;
  std::size_t max_bytes_;
  bool open_ = false;  // the current step may still be continued
};

}  // namespace headwise
