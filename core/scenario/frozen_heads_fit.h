// Whether the weights that frozen heads keep still have their place after an edit.
#pragma once

#include "core/scenario/scenario_inputs.h"

namespace headwise {

// Whether heads.frozen of this scenario names heads that it has, and weights of the shape (N,F,L,S′) that it leads to. Reads
// sizes, makes no tensor; array files that `previous` has read are not read again (it may be null). True as well where
// there is nothing to fit, or where something else is wrong, which computing tells.
bool frozen_heads_fit(const Scenario& scenario, const ScenarioInputs* previous);

}  // namespace headwise
