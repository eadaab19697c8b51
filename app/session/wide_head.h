// Reads the same parameters as one head as wide as all of them: an edit of the scenario, which undo reverts.
#pragma once

#include <string>

#include "app/session/head_gains.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// Why one wide head would not have the same parameters, or the number of heads is not part of the scenario: a sentence. Empty if it is
// possible. `inputs` as computed from the scenario.
std::string no_wide_head(const Scenario& scenario, const ScenarioInputs& inputs);

// num_heads = 1, with head widths of H·D and H·Dv; gains and frozen weights, which belong to single heads, are dropped. Only where
// no_wide_head is empty.
HeadEdit with_one_wide_head(const Scenario& scenario, const ScenarioInputs& inputs);

}  // namespace headwise
