// The places left by following a number to what it was computed from, and the way back.
#pragma once

#include <optional>
#include <vector>

#include "app/session/selection.h"

namespace headwise {

class Trail {
 public:
  static constexpr std::size_t most = 100;  // older places are forgotten

  // Remembers `from` if going to `to` replaces the pinned cell by another; `always`: also if the same cell stays pinned,
  // because a link to a whole row or tensor was followed.
  void left(const Selection& from, const Selection& to, bool always = false);
  // Removes and returns the place left last; null if there is none.
  std::optional<Selection> back();

  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  // The cell that back() would pin; the trail is not empty.
  const CellRef& cell() const { return *places_.back().pinned; }
  void clear() { places_.clear(); }

 private:
  std::vector<Selection> places_;  // each with a pinned cell
};

}  // namespace headwise
