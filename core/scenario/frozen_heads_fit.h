// Whether the weights of frozen heads still fit after an edit.
#pragma once

#include "core/scenario/scenario_inputs.h"

namespace headwise {

// Whether heads.frozen of this scenario names existing heads, and weights of the shape (N,F,L,S′) that the
// scenario leads to. Reads sizes only and creates no tensor; array files already read by `previous` (may be
// null) are not read again. Also true if there is nothing to fit, or if something else is wrong,
// which computing will report.
bool frozen_heads_fit(const Scenario& scenario, const ScenarioInputs* previous);

}  // namespace headwise
