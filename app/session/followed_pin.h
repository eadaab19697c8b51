// Keeps the pinned cell when tokens move from one trace to the next,
// and the head when there are fewer for a while.
#pragma once

#include "app/session/computation.h"
#include "app/session/selection.h"

namespace headwise {

// The same place in another computation. Where the same text is split into different tokens, as between the
// trained model's tokenizer and the hand-made heads, the pin stays on its words, on the same occurrence of
// them; it is dropped if one of them is gone. A head that is no longer there is remembered, and looked at
// again when there are as many heads, unless another was chosen meanwhile. Otherwise as selection_within.
Selection selection_after(const Selection& selection, const Computation& before, const Computation& now);

}  // namespace headwise
