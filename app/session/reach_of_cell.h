// The reach of the focused cell, cached until the cell or the trace changes.
#pragma once

#include <optional>

#include "core/trace/cell_reach.h"

namespace headwise {

class ReachOfCell {
 public:
  // Null if there is no such cell.
  const CellReach* of(const TracePtr& trace, const std::optional<CellRef>& cell);

 private:
  TracePtr trace_;  // kept alive, so that no other trace gets its address
  CellReach reach_;
};

}  // namespace headwise
