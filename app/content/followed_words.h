// What one step does to the followed token, in a sentence, from the numbers of its own row.
#pragma once

#include <string>

#include "app/content/followed_row.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// “it” in quotes, or "query 5" where there are no tokens.
std::string followed_name(const TokenLabels& labels, const FollowedRow& row);

// Of the selection's step and head. Lengths are Euclidean norms. Empty where the trace has nothing for the step, as
// scaled_dot_product_attention has no concat.
std::string followed_sentence(const Trace& trace, const TokenLabels& labels, const Selection& selection,
                              const FollowedRow& row);

}  // namespace headwise
