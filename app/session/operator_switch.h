// Switches a scenario from one operator to the other,
// and back without losing the settings that only one of them has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

// The scenario of multi_head_attention that scaled_dot_product_attention was chosen for,
// and what became of it.
struct OperatorSwitch {
  Scenario before, after;
};

// The same scenario as scaled_dot_product_attention: without what that has no place for (gains, the appended
// rows of k and v, clip_qkv, residual, layer_norm, parameters of a model or file, edits of other arrays than
// masks). Painted pairs stay blocked: a boolean mask is written the other way round there.
Scenario as_scaled_dot_product_attention(const Scenario& scenario);
// The same scenario as multi_head_attention. What was taken away from `left` comes back,
// if its heads still fit.
Scenario as_multi_head_attention(const Scenario& scenario, const std::optional<OperatorSwitch>& left);

// What as_scaled_dot_product_attention takes away, as one would say it: "heads.gain",
// "the parameters of the model".
std::vector<std::string> left_by_switch(const Scenario& scenario);

}  // namespace headwise
