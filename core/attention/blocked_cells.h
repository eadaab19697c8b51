// Which cells the masks block: one answer for what is drawn, exported, counted and said.
#pragma once

#include <vector>

#include "core/attention/trace.h"

namespace headwise {

// Whether the masks have acted on this tensor. A gradient ends at the mask: before it, blocked cells get
// none.
bool is_masked(TensorName name);

// mask_bias in the shape of the tensor, -inf where a cell is blocked; for a mean over heads, where it is
// blocked in all of them. In the indexer's scores -inf where a mask blocks, and +inf where none does and the
// key is not among the chosen. Null if the masks have not acted on it, or there is none. The same pointer
// for the same mask, while it lives.
TensorPtr blocked_cells(const Trace& trace, TensorName name);

// What a blocked cell of the tensor holds: mask_value or -inf, where the masks have acted on the numbers.
// +inf: a number of its own that means nothing, as in the indexer's scores, of which the masks leave some.
double blocked_value(const Trace& trace, TensorName name);

// False if blocked_cells is null.
bool is_blocked(const Trace& trace, TensorName name, const std::vector<Index>& index);

// The number of keys among which the query of a row (N,H,L) of attn_weights chooses: those that no mask
// blocks, and blocked ones that get weight all the same (a mask that fills with a finite number, a row whose
// keys are all blocked).
Index open_keys(const Trace& trace, Index batch, Index head, Index query);

}  // namespace headwise
