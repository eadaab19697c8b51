// When a run may take over q, k and v of the one before it: only what comes after them has changed.
#pragma once

#include "core/trace/trace.h"

namespace headwise {

// Whether the q, k and v of `before` and of a run over `inputs` are alike because the same arrays (not merely equal ones) with the same
// sizes go into them. Masks, scale, dropout, head gains, frozen heads and the output projection may differ.
bool have_same_projections(const Trace& before, const AttentionInputs& inputs);

}  // namespace headwise
