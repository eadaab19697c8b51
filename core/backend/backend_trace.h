// A trace with the needed tensors, computed by the requested backend.
#pragma once

#include "core/backend/backend.h"

namespace headwise {

// The reference recomputes what a fast backend does not keep and `needed` names; only the reference has a
// backward pass. What a backend cannot do at all is left to its fallback, and `warn` gets a sentence that
// says so. Throws what they throw.
TracePtr backend_trace(const Backend& backend, const AttentionInputs& inputs, bool backward,
                       const NeededTensors& needed, const MakeContext& context,
                       const std::function<void(const std::string&)>& warn);

// The minimum number of tensors of the shape of the scores in such a trace; 0 if a fast backend keeps none.
// Refusals caused by the inputs themselves are not known yet: the fallback checks its own memory.
Index least_maps_of(const Backend& backend, bool backward, const NeededTensors& needed);

}  // namespace headwise
