// A forward pass by the backend that was asked for.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/cli/warnings.h"
#include "core/trace/trace.h"

namespace headwise {

// `backend`: a name of backends(). What a fast backend does not keep and `needed` names (none: every tensor) the reference
// computes again. What a backend cannot do at all the next one does, gl, fused, reference, and `warnings` says so. Throws
// what they throw.
TracePtr backend_trace(std::string_view backend, const AttentionInputs& inputs, bool backward,
                       const std::optional<std::vector<TensorName>>& needed, Warnings& warnings);

// How many tensors of the shape of the scores the trace of such a backend_trace holds at least; 0 where a fast backend keeps
// none. What a backend refuses because of the inputs themselves is not known yet: the next one asks for its memory.
Index least_maps_of(std::string_view backend, bool backward,
                    const std::optional<std::vector<TensorName>>& needed);

}  // namespace headwise
