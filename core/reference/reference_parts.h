// The reference's forward pass where only some of its tensors are wanted: memory for these, and little beside them.
#pragma once

#include <vector>

#include "core/trace/trace.h"

namespace headwise {

// A trace with the `needed` tensors that there are, and others that come by the way. Large maps are made a block of queries
// at a time, each going from its scores to its output. Every number is that of reference_forward, bit for bit; a trace that is
// small is simply the whole one. Throws as reference_forward.
TracePtr reference_forward_of(const AttentionInputs& inputs, const std::vector<TensorName>& needed);

// The same, of traces above this many bytes in blocks of so many cells of a map; smaller ones are made whole.
TracePtr reference_forward_of(const AttentionInputs& inputs, const std::vector<TensorName>& needed,
                              Index whole_bytes, Index block_cells);

// How many tensors of the shape of the scores that trace holds at least.
Index needed_maps(const std::vector<TensorName>& needed);

// Whether what is needed is given, and nothing has to be computed: query, key, value and masks.
bool needs_only_inputs(const std::vector<TensorName>& needed);

}  // namespace headwise
