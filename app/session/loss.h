// What the window's gradients are gradients of: a weighted sum of the last output. Chosen where they are looked at; it
// changes no number of the forward pass, so it is no part of a Scenario.
#pragma once

#include <optional>
#include <string>

#include "core/trace/trace.h"

namespace headwise {

enum class Loss {
  sum,         // Σ output: every weight is 1
  first_cell,  // the output's first number alone
  random,      // Σ ± output, with signs that are always the same
  given,       // Σ grad_output · output, with the grad_output of the inputs
};

// The one that was asked for, where there is such a one; else the default: the inputs' own grad_output, else Σ output.
// Behind a layer norm, whose rows have the mean 0 whatever comes in, Σ output has no gradient but rounding: there it is
// the random signs. `given`: the inputs' grad_output, or null.
Loss resolved_loss(std::optional<Loss> asked, const Trace& trace, const TensorPtr& given);

// d(loss)/d(last output), of its shape and type. `loss` must be resolved.
TensorPtr loss_gradient(Loss loss, const Trace& trace, const TensorPtr& given);

// "loss = Σ output", "loss = layer_norm_output[0,0,0]"
std::string loss_text(Loss loss, const Trace& trace);

}  // namespace headwise
