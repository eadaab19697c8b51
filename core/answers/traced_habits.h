// What the heads of a trace look at, measured on its attention maps and the words of its text.
#pragma once

#include <optional>

#include "core/model/heads/head_scores.h"
#include "core/scenario/scenario_inputs.h"
#include "core/trace/trace.h"

namespace headwise {

// The scores of one head (core/model/heads/head_scores.h). nullopt without attention weights, without
// self-attention, if tokens and keys do not match one to one, or if there is no such batch or head. Two
// positions hold the same word if their tokens (of a model's text), or else their labels, are equal.
std::optional<HeadScores> traced_habits(const Trace& trace, const Scenario& scenario,
                                        const ScenarioInputs& inputs, Index batch, Index head);

}  // namespace headwise
