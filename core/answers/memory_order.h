// Which float lies where: a step that only views and transposes (Split heads, kᵀ of Scores, Concat), operation by
// operation as PyTorch does it, and the reading beside it that has the right shape and takes the wrong floats.
// Derived from the rules of core/tensor/strided_layout.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor/strided_layout.h"
#include "core/trace/steps.h"
#include "core/trace/trace.h"

namespace headwise {

// A tensor after an operation.
struct MemoryState {
  std::string code;  // the variable that it begins with, "q"; then the operation, ".transpose(1, 2)"
  StridedLayout layout;
  bool copied = false;  // the operation wrote its floats into memory of their own, row-major
};

// A tensor of the trace, axis by axis: axis i of a layout is axis axes[i] of it.
struct TracedAxes {
  TensorId tensor{};
  std::vector<Index> axes;
};

struct MemoryOrder {
  std::vector<MemoryState> states;  // at least one; the first lies row-major
  TracedAxes source, result;        // what the first and the last state are in the trace
  std::vector<MemoryState> wrong;   // begins as states does and ends in the same sizes; empty: there is none
  std::string wrong_code;           // "q.view(1, 8, 12, 16)"
  // A view that a learner may try on the way, and the sentence with which PyTorch refuses it; empty where it does not.
  std::string refused_code, refusal;

  // Where the heads are told apart: axis head_axis of states[head_state], each head_width indices wide.
  Index heads = 0;  // 0: nowhere
  std::size_t head_state = 0, head_axis = 0;
  Index head_width = 1;

  std::size_t last() const { return states.size() - 1; }
};

// `result` is one of the step's pictures, or a tensor by itself; at Scores it is kᵀ whose way is told. A tensor that no view
// makes has one state. batch_first: whether arrays lie as (N,L,E) or, PyTorch's default, as (L,N,E), of which
// nn.MultiheadAttention folds N and H. The trace must have the tensor.
MemoryOrder memory_order(const Trace& trace, Step step, TensorId result, bool batch_first = true);

// The float that a cell of states[state] shows, counted in the first memory: copies are followed back.
Index float_of(const std::vector<MemoryState>& states, std::size_t state, const std::vector<Index>& index);
// The cell of states[state] that shows a float of the first memory.
std::vector<Index> cell_of(const std::vector<MemoryState>& states, std::size_t state, Index first_float);
// Where that float lies in the memory of states[state].
Index place_of(const std::vector<MemoryState>& states, std::size_t state, Index first_float);

// Between an index of the trace's tensor and one of its layout.
std::vector<Index> to_layout(const TracedAxes& traced, const std::vector<Index>& index);
std::vector<Index> from_layout(const TracedAxes& traced, const std::vector<Index>& index);

// The head that a float of the first memory belongs to; null where there are no heads.
std::optional<Index> head_of_float(const MemoryOrder& order, Index first_float);

}  // namespace headwise
