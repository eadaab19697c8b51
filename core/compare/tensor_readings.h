// How an array stored by another program is read as a tensor of a trace: PyTorch stores the same numbers as
// (L,N,E), as (N·H,L,D) with the heads folded into the batch, as (N,L,H,D) before the transpose. If the sizes
// determine the reading, they decide; an array in the trace's own sizes is never transposed to make it agree,
// because that would hide a missing transpose.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/attention/tensor_names.h"
#include "core/tensor/given_array.h"

namespace headwise {

// An order of our axes: one group per axis of the other array, outermost first; the axes of a group are
// joined there, the first of them slowest. {{0,1},{2},{3}} of (N,H,L,D) is (N·H,L,D).
struct AxisOrder {
  std::vector<std::vector<int>> groups;
};

// The letters of an order, "(N·H,L,D)", and the sizes that an array of that order has.
std::string order_text(const Shape& ours, const AxisOrder& order);
std::vector<Index> order_sizes(const Shape& ours, const AxisOrder& order);

// The cells of `stored`, which has order_sizes(ours, order), in our own order and with our axis names.
Tensor in_our_order(const Tensor& stored, const Shape& ours, const AxisOrder& order);

struct TensorReading {
  TensorPtr tensor;     // in our shape, with our axis names
  std::string reading;  // "(L,N,E)"; empty if the array has the trace's layout
};

// The readings that the sizes of `stored` allow, the likeliest first; empty: it cannot be read as this
// tensor. There are several only if the sizes are ambiguous (N = L with batch_first false, say): then the
// numbers have to decide. The values are read only if there is a reading. `ours` is the trace's tensor of
// that name, with its named axes.
std::vector<TensorReading> tensor_readings(TensorName name, const Shape& ours, const GivenArray& stored,
                                           bool batch_first);

// Every order of our axes other than our own whose sizes are those of `stored`, nothing joined: what a wrong
// transpose may have produced.
std::vector<AxisOrder> transposed_orders(const Shape& ours, const std::vector<Index>& stored);

}  // namespace headwise
