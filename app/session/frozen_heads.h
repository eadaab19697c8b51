// Edits that freeze a head at its current attention weights, or unfreeze it: used by the setup and the key.
#pragma once

#include "app/session/head_gains.h"
#include "core/scenario/scenario.h"
#include "core/trace/trace.h"

namespace headwise {

bool is_frozen(const Scenario& scenario, std::int64_t head);

// Freezes an unfrozen head at the weights that multiply its values in `trace`, bit-exact, and unfreezes a frozen one. The
// other frozen heads keep theirs. `trace` is the last good one. Nothing changes if the head cannot be frozen.
HeadEdit toggle_freeze(const Scenario& scenario, const Trace& trace, std::int64_t head);

// All heads unfrozen, with the edits of their weights removed.
Scenario without_frozen_heads(const Scenario& scenario);
// `scenario` with the frozen heads of `other`, including the edits of their weights.
Scenario with_frozen_heads_of(const Scenario& scenario, const Scenario& other);

}  // namespace headwise
