// What the focused cell highlights on the stage: itself, what it was computed from, what it feeds.
#pragma once

#include <optional>
#include <vector>

#include "app/content/stage_matrix.h"
#include "app/session/selection.h"
#include "core/trace/cell_reach.h"

namespace headwise {

enum class MarkKind { cell, pinned, source, consumer, pointed };

struct StageMark {
  BoxRef box;
  MarkKind kind = MarkKind::cell;
};

// The same query and key at the step that is shown, where a cell of another of the steps from scores to
// softmax is pinned: what this pair is there. None if it is pinned at that step,
// or the step makes no map of pairs.
std::optional<CellRef> pinned_pair_at_step(const Trace& trace, const Selection& selection);

// The focused cell: the one under the mouse, else the pinned one, or its pair at the step that is shown; none
// if the trace has no such cell (any more).
std::optional<CellRef> focused_cell(const Trace& trace, const Selection& selection);

// Where a cell comes from and where it leads, in terms of the tensors that are drawn: without dropout,
// dropped_weights equal attn_weights, and only the latter are drawn.
CellProvenance shown_provenance(const Trace& trace, const CellRef& cell);
std::vector<BoxRef> shown_consumers(const Trace& trace, const CellRef& cell);

// The cell under the mouse or, failing that, the pinned cell, with its sources and consumers; the pinned cell
// is always marked. Sources come first, so that the cell is drawn over them; `pointed`, what is pointed at by
// name, comes last. With a `reach`, its boxes are the sources and consumers: all the way, not only one step.
std::vector<StageMark> stage_marks(const Trace& trace, const Selection& selection,
                                   const Pointed* pointed = nullptr, const CellReach* reach = nullptr);

// The one row (column) of a matrix that a mark singles out; null where there is none.
std::optional<Index> marked_row(const StageMatrix& matrix, const std::vector<StageMark>& marks);
std::optional<Index> marked_col(const StageMatrix& matrix, const std::vector<StageMark>& marks);

}  // namespace headwise
