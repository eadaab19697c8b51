#include "app/session/trail.h"

namespace headwise {
namespace {

// A pinned cell that moved along to another head or batch counts as the same place.
bool same_but_for_head(const CellRef& a, const CellRef& b) {
  if (a.tensor != b.tensor || a.index.size() != b.index.size()) return false;
  const std::size_t leading = a.index.size() > 2 ? a.index.size() - 2 : 0;
  for (std::size_t axis = leading; axis < a.index.size(); ++axis) {
    if (a.index[axis] != b.index[axis]) return false;
  }
  return true;
}

}  // namespace

void Trail::left(const Selection& from, const Selection& to, bool always) {
  if (!from.pinned || !to.pinned) return;
  if (!always && same_but_for_head(*from.pinned, *to.pinned)) return;
  if (places_.size() >= most) places_.erase(places_.begin());
  places_.push_back(from);
  places_.back().hovered.reset();
}

std::optional<Selection> Trail::back() {
  if (places_.empty()) return std::nullopt;
  Selection place = places_.back();
  places_.pop_back();
  return place;
}

}  // namespace headwise
