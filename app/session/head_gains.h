// Edits of a scenario's head gains: used by the dot of a thumbnail, its double click and the keys.
#pragma once

#include <optional>
#include <string>

#include "core/attention/trace.h"
#include "core/lessons/tensor_change.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// 1 if the scenario says nothing about that head.
double head_gain_of(const Scenario& scenario, std::int64_t head);

// An edit of one head.
struct HeadEdit {
  Scenario scenario;
  std::string label;  // what undo shows: "mute head 5"; empty if nothing changes
};

// Any gain; a drag through several values is one step, by its label.
HeadEdit set_head_gain(const Scenario& scenario, std::int64_t head, double gain);
// Unmutes a muted head (gain 1), mutes any other (gain 0). Gains that are all 1 are written as null.
HeadEdit toggle_mute(const Scenario& scenario, std::int64_t head);
// Mutes all heads but this one; if it is already the only active one, unmutes all.
HeadEdit toggle_solo(const Scenario& scenario, std::int64_t head);

// Edits that freeze a head at its current attention weights, or unfreeze it: used by the setup and the key.

bool is_frozen(const Scenario& scenario, std::int64_t head);

// Freezes an unfrozen head at the weights that multiply its values in `trace`, bit-exact, and unfreezes a
// frozen one. The other frozen heads keep theirs. `trace` is the last good one.
// Nothing changes if the head cannot be frozen.
HeadEdit toggle_freeze(const Scenario& scenario, const Trace& trace, std::int64_t head);

// All heads unfrozen, with the edits of their weights removed.
Scenario without_frozen_heads(const Scenario& scenario);
// `scenario` with the frozen heads of `other`, including the edits of their weights.
Scenario with_frozen_heads_of(const Scenario& scenario, const Scenario& other);

// The effect of the head gains on the output: compared with the output with every gain 1.

class UnmutedOutput {
 public:
  // The change from the output with every gain 1 to the trace's own. None if every gain is 1 already, or
  // there is no output of joined heads. While only gains change,
  // the merge and the projection are computed once.
  std::optional<TensorChange> change(const Trace& trace);
  // How often the output with every gain 1 was computed.
  int computed() const { return computed_; }

 private:
  TensorPtr head_output_, weight_, bias_, gate_;  // that it was computed from
  TensorPtr output_;
  TensorPtr changed_to_;
  TensorChange change_;
  int computed_ = 0;
};

// Reads the same parameters as one head as wide as all of them: an edit of the scenario, which undo reverts.

// Why one wide head would not have the same parameters, or the number of heads is not part of the scenario: a
// sentence. Empty if it is possible. `inputs` as computed from the scenario.
std::string no_wide_head(const Scenario& scenario, const ScenarioInputs& inputs);

// num_heads = 1, with head widths of H·D and H·Dv; gains and frozen weights, which belong to single heads,
// are dropped. Only where no_wide_head is empty.
HeadEdit with_one_wide_head(const Scenario& scenario, const ScenarioInputs& inputs);

}  // namespace headwise
