#include "app/session/reach_of_cell.h"

namespace headwise {

const CellReach* ReachOfCell::of(const TracePtr& trace, const std::optional<CellRef>& cell) {
  if (!trace || !cell || !trace->tensor(cell->tensor)) {
    trace_.reset();
    return nullptr;
  }
  if (trace_ == trace && reach_.cell == *cell) return &reach_;
  reach_ = cell_reach(*trace, cell->tensor, cell->index);
  trace_ = trace;
  return &reach_;
}

}  // namespace headwise
