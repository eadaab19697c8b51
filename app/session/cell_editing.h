// Edits of single cells: a number set by hand, a mask painted on the map. They become entries of Scenario::edits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

// Whether a cell can be set by hand: of an input, a parameter or a given mask, not of what is computed.
bool is_editable(const Trace& trace, const CellRef& cell);

// The scenario with this cell set; an earlier edit of the same cell is replaced. The value is written as it is
// given: whether the tensor can hold it is told by the trace that is asked for.
Scenario with_cell(const Scenario& scenario, const CellRef& cell, double value);

// What a stroke of the mask painter covers: the pair itself, or all keys of its query, or all queries of its key, or the
// rectangle from where it began (with_painted_box; with_painted takes it for a pair).
enum class BrushShape { pair, row, column, box };

// Why nothing can be painted in this trace: attn_mask is a float one. Empty where it can.
std::string painting_refusal(const Trace& trace);
// Whether the pair (query, key) of this head is blocked by attn_mask: what a stroke that begins there turns round.
bool is_painted(const Trace& trace, Index batch, Index head, Index query, Index key);
// attn_mask with the brush at (query, key), blocked or free; a mask that differs between heads (rank 3 or 4) is
// painted for this head alone. Other masks stay as they are. Appended columns are never blocked.
Scenario with_painted(const Scenario& scenario, const Trace& trace, Index batch, Index head, Index query,
                      Index key, BrushShape shape, bool blocked);

// The same for all pairs from one corner to the other, both counted, in any order.
struct PairBox {
  Index query = 0, key = 0, to_query = 0, to_key = 0;
};
Scenario with_painted_box(const Scenario& scenario, const Trace& trace, Index batch, Index head,
                          const PairBox& box, bool blocked);

}  // namespace headwise
