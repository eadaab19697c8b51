// A trace with the tensors that are needed, by the backend that was asked for.
#pragma once

#include "core/backend/backend.h"

namespace headwise {

// What a fast backend does not keep and `needed` names the reference computes again; a backward pass only it has. What a backend
// cannot do at all the next one does, and `warn` is given a sentence that says so. Throws what they throw.
TracePtr backend_trace(const Backend& backend, const AttentionInputs& inputs, bool backward,
                       const NeededTensors& needed, const MakeContext& context,
                       const std::function<void(const std::string&)>& warn);

// How many tensors of the shape of the scores such a trace holds at least; 0 where a fast backend keeps none. What a backend
// refuses because of the inputs themselves is not known yet: the next one asks for its memory.
Index least_maps_of(const Backend& backend, bool backward, const NeededTensors& needed);

}  // namespace headwise
