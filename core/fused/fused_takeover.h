// What a run of the fused backend takes over from the one before it.
#pragma once

#include <vector>

#include "core/fused/fused_projection.h"
#include "core/trace/trace.h"

namespace headwise {

// q, k or v of before, and the panels that hold a token whose input is another.
struct FusedRows {
  TensorPtr before;
  std::vector<PanelPlace> changed;
};

struct FusedTakeover {
  FusedRows q, k, v;      // null where all is projected
  TensorPtr head_output;  // null where it is another, or not kept
  TensorPtr output;       // the same
};

// Of a module. `before` may be null; with `wants_weights`, head_output is taken over only where attn_weights can be, too. Inputs that
// are other arrays are compared token by token.
FusedTakeover fused_takeover(const Trace* before, const AttentionInputs& inputs, bool wants_weights);

}  // namespace headwise
