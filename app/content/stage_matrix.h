// A matrix on the stage: the last two axes of a tensor at fixed indices of the others, possibly transposed,
// possibly only some of its rows. Maps a drawn cell to the tensor's index and back; and what the focused cell
// highlights: itself, what it was computed from, what it feeds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/selection.h"
#include "core/attention/cell_provenance.h"
#include "core/attention/cell_reach.h"
#include "core/export/heatmap.h"
#include "core/export/plane_rule.h"

namespace headwise {

struct StageMatrix {
  TensorName name;
  std::vector<Index> leading;  // indices of all axes but the last two (rank 1: none, and one row)
  Index row_begin = 0;         // as stored: the first row shown
  bool transposed = false;
  MatrixView view;                 // as drawn
  std::string row_axis, col_axis;  // as drawn: "L", "H·D"; empty for the one row of a tensor of rank 1
};

// Which part of a tensor is shown. Ignored by a tensor without such an axis; an axis of key/value heads (G)
// is indexed by the group that serves `head`.
struct StagePlace {
  Index batch = 0, head = 0;
};

// How many maps the tensor has in one batch: H, G or 1.
Index head_count(const Trace& trace, TensorName name);
// The first query head that reads the i-th of these maps: i itself, or i·H/G.
Index head_of_map(const Trace& trace, TensorName name, Index i);

// Null if the trace does not have the tensor. row_begin, row_end count rows (rank 1: entries) as stored;
// 0, 0: all.
std::optional<StageMatrix> stage_matrix(const Trace& trace, TensorName name, StagePlace place,
                                        bool transposed = false, Index row_begin = 0, Index row_end = 0);

// Whether its rows are queries and its columns keys, or the other way round: scores … attn_weights,
// and their gradients.
bool is_pair_map(const StageMatrix& matrix);

CellRef cell_at(const StageMatrix& matrix, Index row, Index col);
// The part of the box that this matrix shows; null where it shows none of it.
std::optional<CellBox> drawn_box(const StageMatrix& matrix, const BoxRef& box);
BoxRef box_of(const CellRef& cell);

std::string matrix_name(const StageMatrix& matrix);   // "k_heads[0,3]ᵀ", "in_proj_weight[128:256]ᵀ"
std::string matrix_sizes(const StageMatrix& matrix);  // "D×S 16×12"

// Width of one head's block in an axis that joins heads ("H·D" → D, "G·Dv" → Dv, "H·(Dn+Dv)" → Dn + Dv); 0
// for any other axis.
Index head_block(const Trace& trace, const std::string& axis);

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
