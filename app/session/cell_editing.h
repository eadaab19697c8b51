// Edits of single cells: a number set by hand, a mask painted on the map.
// They become entries of Scenario::edits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/cell_provenance.h"
#include "core/scenario/scenario.h"

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

// A switch from one operator to another, and back without losing the settings that only one of them has:
// the scenario before it, and what became of it.
struct OperatorSwitch {
  Scenario before, after;
};

// The same scenario with another operator, without what that has no place for: gains, appended rows, options,
// parameters of other arrays, edits except of masks. Painted pairs stay blocked: a boolean mask is written
// the other way round in scaled_dot_product_attention. multi_head_latent_attention gets latents of a quarter
// of the model's width. If `left` came from that operator, what it took away comes back, its heads' gains,
// parameters and edits only if there still are as many.
Scenario with_operator(const Scenario& scenario, Op op, const std::optional<OperatorSwitch>& left);

// The same, back by the way by which that operator was left last, over the third one if need be. `made`: the
// switches so far, the last of each kind.
Scenario with_operator(const Scenario& scenario, Op op, std::vector<OperatorSwitch>& made);

// What with_operator takes away, as one would say it: "heads.gain", "the parameters of the model".
std::vector<std::string> dropped_by_operator(const Scenario& scenario, Op op);

}  // namespace headwise
