// The pinned cell of a trace whose tokens stand elsewhere than in the trace before.
#pragma once

#include "app/session/computation.h"
#include "app/session/selection.h"

namespace headwise {

// The same place in another computation. Where the same text has become other tokens, as the trained model's tokenizer and
// the hand-made heads cut it, the pin stays on its words: on the same occurrence of them; it goes where one of them is gone.
// Otherwise as selection_within.
Selection selection_after(const Selection& selection, const Computation& before, const Computation& now);

}  // namespace headwise
