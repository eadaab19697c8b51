// What rotary position embedding asks of the rest of a scenario.
#pragma once

#include "core/scenario/plan_contradictions.h"
#include "core/scenario/scenario_plan.h"

namespace headwise {

// Pairs of columns that are turned by positions, and no key without one. The plan's head_dim is known by now.
void check_rotary_embedding(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                            const GivenSizes& sizes, Contradictions& wrong);

}  // namespace headwise
