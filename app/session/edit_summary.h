// One line that says what an edit changed, computed from the traces before and after it.
#pragma once

#include <string>

#include "core/scenario/scenario.h"
#include "core/trace/trace.h"

namespace headwise {

// "Head 5 muted: concat[:, 80:96] is 0, the output changed by 7.3 % (relative norm). The attention weights did not
// change." `label` names an edit that has no sentence of its own ("embed_dim 128 → 64"). The output's change is ‖after −
// before‖ / ‖before‖.
std::string edit_summary(const std::string& label, const Scenario& scenario_before, const Trace& before,
                         const Scenario& scenario_after, const Trace& after);

// The same for an undone edit labelled `label`: "Undone: causal mask on. No pair is blocked now, the output changed by 7.3
// % (relative norm)." What the label says no longer holds.
std::string undo_summary(const std::string& label, const Scenario& scenario_before, const Trace& before,
                         const Scenario& scenario_after, const Trace& after);

// Applies an edit made on top of one scenario to another.

// `onto` with every key that differs between `from` and `edited`; head gains are adapted to its number of heads.
Scenario with_edit_of(const Scenario& onto, const Scenario& from, const Scenario& edited);

// "num_heads is 8 again. ": how `now` differs from what was `refused`; a sentence to put in front of another.
std::string put_back_sentence(const Scenario& refused, const Scenario& now);

}  // namespace headwise
