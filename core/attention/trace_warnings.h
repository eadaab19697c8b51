// Warnings about a result that is correct and yet surprising.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"

namespace headwise {

// "grad_output[0,1,2] is nan, [0,1,3] is inf, and 4 more": the cells that are not finite; empty if all are. -inf is
// normal in a mask and may be allowed.
std::string non_finite_cells(std::string_view name, const Tensor& tensor, bool pass_minus_infinity = false);

// Rows of attn_weights in which every key is blocked, by index ("batches 0–2, head 1, queries 3, 5–9"; rows
// that agree are reported together, sets beyond the 32nd are only counted), and inputs, parameters and masks
// that are not finite (except -inf in a mask), by the index of the first such cells, or where all of these
// are finite the first computed tensor that is not; queries of an indexer whose last chosen key has the score
// of one that is left out.
std::vector<std::string> trace_warnings(const Trace& trace);
// The same if masked_scores, of the shape `scores`, is not kept, from its fully_masked_rows
// (core/attention/softmax.h).
std::vector<std::string> trace_warnings(const Trace& trace, const std::vector<Index>& blocked_rows,
                                        const Shape& scores);

// Of them what follows from options and sizes alone: an indexer that keeps every key.
std::vector<std::string> option_warnings(const Trace& trace);

// Whether the tensor is an input, a parameter or a mask of this trace: given, not computed.
bool is_given(const Trace& trace, TensorName name);

// "this scenario returns no weights: attention.need_weights is false".
// The trace must not have a tensor of that name.
std::string why_absent(const Trace& trace, TensorName name);

}  // namespace headwise
