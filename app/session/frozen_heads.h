// Edits that freeze a head at the attention weights that it has, or let it go: what the setup and the key do.
#pragma once

#include "app/session/head_gains.h"
#include "core/scenario/scenario.h"
#include "core/trace/trace.h"

namespace headwise {

bool is_frozen(const Scenario& scenario, std::int64_t head);

// A head that is free keeps from now on the weights that multiply its values in `trace`, to the last bit; one that is
// frozen is let go. The other frozen heads keep theirs. `trace` is the last good one. Nothing changes
// where the head cannot be frozen.
HeadEdit toggle_freeze(const Scenario& scenario, const Trace& trace, std::int64_t head);

// All heads let go, with what was edited in their weights.
Scenario without_frozen_heads(const Scenario& scenario);
// `scenario` with the frozen heads, and what was edited in their weights, of another one.
Scenario with_frozen_heads_of(const Scenario& scenario, const Scenario& other);

}  // namespace headwise
