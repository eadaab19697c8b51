// The reference's forward pass for only some of its tensors: needs memory for these and little more.
#pragma once

#include <vector>

#include "core/attention/trace.h"

namespace headwise {

// A trace with the `needed` tensors, if they exist, and others that come for free. Large maps are computed
// one block of queries at a time, each from its scores to its output. Every number equals that of
// reference_forward, bit for bit; a small trace is simply the whole one. Throws like reference_forward.
TracePtr reference_forward_of(const AttentionInputs& inputs, const std::vector<TensorName>& needed);

// The same, with blocks of `block_cells` cells of a map for traces above `whole_bytes`;
// smaller ones are computed whole.
TracePtr reference_forward_of(const AttentionInputs& inputs, const std::vector<TensorName>& needed,
                              Index whole_bytes, Index block_cells);

// The minimum number of tensors of the shape of the scores in that trace.
Index needed_maps(const std::vector<TensorName>& needed);

// Whether everything needed is given (query, key, value and masks), so that nothing has to be computed.
bool needs_only_inputs(const std::vector<TensorName>& needed);

}  // namespace headwise
