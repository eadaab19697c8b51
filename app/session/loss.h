// The loss that the window's gradients are taken of: a weighted sum of the last output. Chosen where
// gradients are shown; it changes no number of the forward pass, so it is not part of a Scenario.
#pragma once

#include <optional>
#include <string>

#include "core/playlist/stage_view.h"
#include "core/trace/trace.h"

namespace headwise {

// The requested one if available; else the default: the inputs' own grad_output, else Σ output. After a layer
// norm, whose rows have mean 0 whatever the input, Σ output has no gradient but rounding errors: there the
// default is the random signs. `given`: the inputs' grad_output, or null.
Loss resolved_loss(std::optional<Loss> asked, const Trace& trace, const TensorPtr& given);

// d(loss)/d(last output), with its shape and type. `loss` must be resolved.
TensorPtr loss_gradient(Loss loss, const Trace& trace, const TensorPtr& given);

// "loss = Σ output", "loss = layer_norm_output[0,0,0]"
std::string loss_text(Loss loss, const Trace& trace);

}  // namespace headwise
