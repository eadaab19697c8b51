// What rotary position embedding requires of the rest of a scenario.
#pragma once

#include "core/scenario/plan_contradictions.h"
#include "core/scenario/scenario_plan.h"

namespace headwise {

// Checks that columns can be rotated in pairs, and that every key has a position. The plan's head_dim is already known.
void check_rotary_embedding(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                            const GivenSizes& sizes, Contradictions& wrong);

}  // namespace headwise
