// What the heads of a trace look at, measured on its attention maps and the words of its text.
#pragma once

#include <optional>

#include "core/model/heads/head_scores.h"
#include "core/scenario/scenario_inputs.h"
#include "core/trace/trace.h"

namespace headwise {

// The scores of one head (core/model/heads/head_scores.h). nullopt where there is nothing to measure: without attention weights or
// self-attention, if there are more keys than tokens, or no such batch or head. Of a model's text the tokens are compared, else the
// words of the labels.
std::optional<HeadScores> traced_habits(const Trace& trace, const Scenario& scenario,
                                        const ScenarioInputs& inputs, Index batch, Index head);

}  // namespace headwise
