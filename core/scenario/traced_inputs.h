// The inputs of a trace, where it is known beforehand how much the trace will keep: what is too large is refused before any
// number is made, and not after a minute of making random ones.
#pragma once

#include "core/scenario/scenario_inputs.h"

namespace headwise {

// As make_scenario_inputs. `maps`: how many tensors of the shape of the scores, (N,H,L,S′) in `dtype`, the trace holds at
// least; 0 where it keeps none. Throws Error(memory) before anything is made where they do not fit beside the inputs. They are not
// asked for beside a `previous` with maps of the same size, whose trace lends most of its own.
ScenarioInputs make_traced_inputs(const Scenario& scenario, DType dtype, const GivenArrays& given, Index maps,
                                  const ScenarioInputs* previous = nullptr);

// As make_scenario_inputs without the parameters, which are neither read nor made where query, key, value and masks do not
// follow from them: the first layer's input of a model larger than the memory.
ScenarioInputs make_inputs_alone(const Scenario& scenario, DType dtype, const GivenArrays& given,
                                 const ScenarioInputs* previous = nullptr);

// How many such tensors every trace of the reference holds: scores, scaled_scores and attn_weights.
inline constexpr Index least_reference_maps = 3;

}  // namespace headwise
