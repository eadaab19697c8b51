// One line that says what an edit changed, computed from the traces before and after it.
#pragma once

#include <functional>
#include <string>

#include "app/session/history.h"
#include "core/attention/trace.h"
#include "core/scenario/scenario.h"

namespace headwise {

// Of an edit that may have changed any setting.
inline constexpr const char* restored_label = "restore unsaved work";

// "Head 5 muted: concat[:, 80:96] is 0, the output changed by 7.3 % (relative norm). The attention weights
// did not change." `label` names an edit that has no sentence of its own ("embed_dim 128 → 64"). The output's
// change is ‖after − before‖ / ‖before‖.
std::string edit_summary(const std::string& label, const Scenario& scenario_before, const Trace& before,
                         const Scenario& scenario_after, const Trace& after);

// The same for an undone edit labelled `label`: "Undone: causal mask on. No pair is blocked now, the output
// changed by 7.3 % (relative norm)." What the label says no longer holds.
std::string undo_summary(const std::string& label, const Scenario& scenario_before, const Trace& before,
                         const Scenario& scenario_after, const Trace& after);

// What was changed since the last step whose scenario `is_base` holds of: "causal mask off, num_heads 8 → 4,
// mute head 1 and 2 more". A setting that was changed more than once is told once, one that was changed back
// is not. Empty where the history holds no such step, and where nothing was changed. The `newest` last steps
// are left out, as if they were undone.
std::string edits_since(const History& history, const std::function<bool(const Scenario&)>& is_base,
                        std::size_t newest = 0);

// Applies an edit made on top of one scenario to another.

// `onto` with every key that differs between `from` and `edited`;
// head gains are adapted to its number of heads.
Scenario with_edit_of(const Scenario& onto, const Scenario& from, const Scenario& edited);

// "num_heads is 8 again. ": how `now` differs from what was `refused`; a sentence to put in front of another.
std::string put_back_sentence(const Scenario& refused, const Scenario& now);

}  // namespace headwise
