// What a scenario's inputs are told with: arrays that are not used, masks that look like booleans, and a
// model's layer that is not all of its config.json; and the labels of its tokens.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/given_arrays.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_plan.h"
#include "core/scenario/text_inputs.h"

namespace headwise {

// Arrays whose names nothing has, with the name that each may stand for.
void note_unused(const GivenArrays& given, std::vector<std::string>& notes);

// A mask of floating-point numbers is added: one of only 0 and 1 was probably meant as a boolean one.
void note_masks_like_booleans(const GivenArrays& given, const TraceTensors& tensors,
                              std::vector<std::string>& notes);

// One of two arrays that belong together is given alone: the numbers of the other are all 1, or all 0.
void note_missing_halves(const TraceTensors& tensors, std::vector<std::string>& notes);

// Notes that the model is not what its config.json says, or that its layer is not fully computed.
void note_layer(const Scenario& scenario, Index tokens, ScenarioInputs& inputs);

// The words of the texts, or "q 0", "k 0", and "past 0" for the keys of a past.
TokenLabels token_labels(const ScenarioPlan& plan, const Texts& texts, const TraceTensors& tensors);

}  // namespace headwise
