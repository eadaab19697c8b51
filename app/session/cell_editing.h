// Edits of single cells: a number set by hand, a mask painted on the map.
// They become entries of Scenario::edits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

// Whether a cell can be set by hand: it must belong to an input, a parameter or a given mask,
// not to a computed tensor.
bool is_editable(const Trace& trace, const CellRef& cell);

// The scenario with this cell set; an earlier edit of the same cell is replaced. The value is stored as
// given: whether the tensor can hold it shows when its trace is computed.
Scenario with_cell(const Scenario& scenario, const CellRef& cell, double value);

// What a stroke of the mask brush covers: the pair itself, all keys of its query, all queries of its key, or
// the rectangle from where the stroke began (with_painted_box; with_painted treats it as a pair).
enum class BrushShape { pair, row, column, box };

// Why nothing can be painted in this trace: attn_mask is a float mask. Empty if painting is possible.
std::string painting_refusal(const Trace& trace);
// Whether the pair (query, key) of this head is blocked by attn_mask: a stroke starting there inverts it.
bool is_painted(const Trace& trace, Index batch, Index head, Index query, Index key);
// attn_mask with the pairs under the brush at (query, key) blocked or freed;
// a mask that differs between heads (rank 3 or
// 4) is painted for this head alone. Other masks are unchanged. Appended columns are never blocked.
Scenario with_painted(const Scenario& scenario, const Trace& trace, Index batch, Index head, Index query,
                      Index key, BrushShape shape, bool blocked);

// The same for all pairs from one corner to the other, inclusive, in any order.
struct PairBox {
  Index query = 0, key = 0, to_query = 0, to_key = 0;
};
Scenario with_painted_box(const Scenario& scenario, const Trace& trace, Index batch, Index head,
                          const PairBox& box, bool blocked);

}  // namespace headwise
