// The reach of the cell that is looked at, kept until another cell or another trace is.
#pragma once

#include <optional>

#include "core/trace/cell_reach.h"

namespace headwise {

class ReachOfCell {
 public:
  // Null where there is no such cell.
  const CellReach* of(const TracePtr& trace, const std::optional<CellRef>& cell);

 private:
  TracePtr trace_;  // held, so that no other trace gets its address
  CellReach reach_;
};

}  // namespace headwise
