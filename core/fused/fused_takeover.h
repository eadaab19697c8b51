// What a run of the fused backend reuses from the previous one.
#pragma once

#include <vector>

#include "core/fused/fused_projection.h"
#include "core/trace/trace.h"

namespace headwise {

// q, k or v of the previous run, and the panels containing a token whose input has changed.
struct FusedRows {
  TensorPtr before;
  std::vector<PanelPlace> changed;
};

struct FusedTakeover {
  FusedRows q, k, v;      // null if everything is projected
  TensorPtr head_output;  // null if it has changed, or was not kept
  TensorPtr output;       // likewise
};

// For a module. `before` may be null; with `wants_weights`, head_output is reused only if attn_weights can be, too. Inputs in
// different arrays are compared token by token.
FusedTakeover fused_takeover(const Trace* before, const AttentionInputs& inputs, bool wants_weights);

}  // namespace headwise
