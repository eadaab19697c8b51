// Where each float is in memory: a step that only views and transposes (Split heads, kᵀ of Scores, Concat),
// operation by operation as PyTorch does it, and next to it the reading that has the right shape and takes
// the wrong floats. Derived from the rules of core/tensor/strided_layout.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/steps.h"
#include "core/attention/trace.h"
#include "core/tensor/strided_layout.h"

namespace headwise {

// A tensor after an operation.
struct MemoryState {
  std::string code;  // the variable it starts from, "q"; then the operation, ".transpose(1, 2)"
  StridedLayout layout;
  bool copied = false;  // the operation copied its floats to new memory, row-major
};

// A tensor of the trace, axis by axis: axis i of a layout is axis axes[i] of the tensor.
struct TracedAxes {
  TensorId tensor{};
  std::vector<Index> axes;
};

struct MemoryOrder {
  std::vector<MemoryState> states;  // at least one; the first is row-major
  TracedAxes source, result;        // the first and the last state as tensors of the trace
  std::vector<MemoryState> wrong;   // starts like states and ends with the same sizes; empty: there is none
  std::string wrong_code;           // "q.view(1, 8, 12, 16)"
  // A view that a learner may try along the way, and PyTorch's error message for it; empty if there is none.
  std::string refused_code, refusal;

  // Where the heads are separate: axis head_axis of states[head_state], each head_width indices wide.
  Index heads = 0;  // 0: nowhere
  std::size_t head_state = 0, head_axis = 0;
  Index head_width = 1;

  std::size_t last() const { return states.size() - 1; }
};

// `result` is one of the step's pictures, or a tensor by itself; at Scores it is kᵀ whose path is shown. A
// tensor that is not made by views has one state. batch_first: whether arrays are stored as (N,L,E) or,
// PyTorch's default, as (L,N,E), in which nn.MultiheadAttention folds N and H.
// The trace must have the tensor.
MemoryOrder memory_order(const Trace& trace, Step step, TensorId result, bool batch_first = true);

// The float shown by a cell of states[state], as an offset in the first memory: copies are traced back.
Index float_of(const std::vector<MemoryState>& states, std::size_t state, const std::vector<Index>& index);
// The cell of states[state] that shows a float of the first memory.
std::vector<Index> cell_of(const std::vector<MemoryState>& states, std::size_t state, Index first_float);
// The offset of that float in the memory of states[state].
Index place_of(const std::vector<MemoryState>& states, std::size_t state, Index first_float);

// Converts between an index of the trace's tensor and one of its layout.
std::vector<Index> to_layout(const TracedAxes& traced, const std::vector<Index>& index);
std::vector<Index> from_layout(const TracedAxes& traced, const std::vector<Index>& index);

// The head that a float of the first memory belongs to; nullopt if there are no heads.
std::optional<Index> head_of_float(const MemoryOrder& order, Index first_float);

}  // namespace headwise
