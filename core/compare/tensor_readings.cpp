#include "core/compare/tensor_readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;

// (N,length,width)
const AxisOrder length_first{{{1}, {0}, {2}}};     // (L,N,E), as PyTorch computes
const AxisOrder rows_length_first{{{1, 0}, {2}}};  // (L·N,E)
const AxisOrder rows_batch_first{{{0, 1}, {2}}};   // (N·L,E)
// (N,H,length,width)
const AxisOrder folded_heads{{{0, 1}, {2}, {3}}};               // (N·H,L,D)
const AxisOrder heads_after_length{{{0}, {2}, {1}, {3}}};       // (N,L,H,D), before the transpose
const AxisOrder length_then_folded{{{2}, {0, 1}, {3}}};         // (L,N·H,D)
const AxisOrder length_batch_heads{{{2}, {0}, {1}, {3}}};       // (L,N,H,D)
const AxisOrder heads_side_by_side{{{0}, {2}, {1, 3}}};         // (N,L,H·D), before the split
const AxisOrder length_first_side_by_side{{{2}, {0}, {1, 3}}};  // (L,N,H·D)
const AxisOrder keys_transposed{{{0}, {1}, {3}, {2}}};          // (N,G,D,S), ready for q·kᵀ
const AxisOrder folded_keys_transposed{{{0, 1}, {3}, {2}}};     // (N·G,D,S)

bool is_sequence(Id id) {
  const TensorEntry& entry = tensor_entry(id);
  return std::ranges::count(entry.shape, ',') == 2 && !entry.probabilities && !is_row_statistic(id);
}

// In the module's interface the layout depends on batch_first; internally,
// PyTorch always computes in (L,N,E).
bool is_inside(Id id) {
  return id == Id::q || id == Id::k || id == Id::v || id == Id::concat || id == Id::output_gate ||
         id == Id::gated_concat;
}

std::vector<AxisOrder> other_orders(Id id, Index rank, bool batch_first) {
  if (is_row_statistic(id)) return {rows_batch_first, {{{0}, {2}, {1}}}};  // (N·H,L), (N,L,H)
  if (rank == 3 && is_sequence(id)) {
    if (batch_first && !is_inside(id)) return {length_first, rows_batch_first};
    return {length_first, rows_length_first, rows_batch_first};
  }
  if (rank != 4) return {};
  switch (id) {
    case Id::q_heads:
    case Id::q_normed:
    case Id::q_rotary:
    case Id::indexer_q:
    case Id::v_heads:
    case Id::past_value:
    case Id::present_value:
    case Id::head_output:
    case Id::output:
      return {folded_heads,       heads_after_length, length_then_folded,
              length_batch_heads, heads_side_by_side, length_first_side_by_side};
    case Id::k_heads:
    case Id::k_normed:
    case Id::k_rotary:
    case Id::indexer_k:
    case Id::past_key:
    case Id::present_key:
      return {folded_heads,       heads_after_length,        length_then_folded, length_batch_heads,
              heads_side_by_side, length_first_side_by_side, keys_transposed,    folded_keys_transposed};
    default:
      return {folded_heads};
  }
}

std::vector<Index> without_ones(std::vector<Index> sizes) {
  std::erase(sizes, 1);
  return sizes;
}

// Sizes that equal ours except for axes of size 1, in our letters: "(1,1,E)", "(L,E)".
std::string letters_text(const std::vector<Index>& sizes, const Shape& ours) {
  std::vector<std::string> axes;
  Index axis = 0;
  for (const Index size : sizes) {
    while (size != 1 && ours.size(axis) == 1) ++axis;
    axes.push_back(size == 1 ? "1" : ours.name(axis++));
  }
  return fmt::format("({})", join(axes, ","));
}

TensorPtr reshaped(const TensorPtr& tensor, const Shape& shape) {
  return std::make_shared<const Tensor>(tensor->reshaped(shape));
}

}  // namespace

std::string order_text(const Shape& ours, const AxisOrder& order) {
  std::vector<std::string> axes;
  for (const std::vector<int>& group : order.groups) {
    std::vector<std::string> letters;
    for (const int axis : group) letters.push_back(ours.name(axis));
    axes.push_back(join(letters, "·"));
  }
  return fmt::format("({})", join(axes, ","));
}

std::vector<Index> order_sizes(const Shape& ours, const AxisOrder& order) {
  std::vector<Index> sizes;
  for (const std::vector<int>& group : order.groups) {
    Index size = 1;
    for (const int axis : group) size *= ours.size(axis);
    sizes.push_back(size);
  }
  return sizes;
}

Tensor in_our_order(const Tensor& stored, const Shape& ours, const AxisOrder& order) {
  // The distance of two adjacent cells on each of our axes in the stored array.
  std::vector<Index> steps(static_cast<std::size_t>(ours.rank()), 0);
  Index step = 1;
  for (std::size_t group = order.groups.size(); group-- > 0;) {
    const std::vector<int>& axes = order.groups[group];
    for (std::size_t i = axes.size(); i-- > 0;) {
      steps[static_cast<std::size_t>(axes[i])] = step;
      step *= ours.size(axes[i]);
    }
  }
  Tensor result(ours, stored.dtype());
  std::vector<Index> index(steps.size(), 0);
  for (Index cell = 0; cell < result.size(); ++cell) {
    result.set_flat(cell, stored.flat(std::inner_product(index.begin(), index.end(), steps.begin(), Index{0})));
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < ours.size(static_cast<Index>(axis))) break;
      index[axis] = 0;
    }
  }
  return result;
}

std::vector<TensorReading> tensor_readings(TensorName name, const Shape& ours, const GivenArray& stored,
                                           bool batch_first) {
  const std::vector<Index> sizes = stored.outline().shape().sizes();
  const auto read_in = [&](const AxisOrder& order) {
    const bool other_layout =
        batch_first && ours.rank() == 3 && !is_inside(name.id) && order.groups == length_first.groups;
    return TensorReading{std::make_shared<const Tensor>(in_our_order(*stored.tensor(), ours, order)),
                         order_text(ours, order) + (other_layout ? ", as with batch_first=False" : "")};
  };
  std::vector<TensorReading> readings;
  if (sizes == ours.sizes()) {
    readings.push_back({reshaped(stored.tensor(), ours), ""});
    // Both layouts are valid for this tensor if batch_first is false, and N = L does not distinguish them.
    if (!batch_first && ours.rank() == 3 && is_sequence(name.id) && ours.size(0) > 1 &&
        order_sizes(ours, length_first) == sizes) {
      readings.push_back(read_in(length_first));
    }
    return readings;
  }
  const std::vector<AxisOrder> orders = other_orders(name.id, ours.rank(), batch_first);
  for (const bool joined : {false, true}) {
    for (const AxisOrder& order : orders) {
      const bool joins = static_cast<Index>(order.groups.size()) < ours.rank();
      if (joins == joined && order_sizes(ours, order) == sizes) readings.push_back(read_in(order));
    }
    if (!readings.empty()) return readings;
    // Axes of size 1 are added and removed without moving a number: unbatched arrays, bias_k as (1,1,E).
    if (stored.outline().shape().element_count() == ours.element_count() &&
        without_ones(sizes) == without_ones(ours.sizes())) {
      return {{reshaped(stored.tensor(), ours), letters_text(sizes, ours)}};
    }
  }
  // Heads in groups: (N,G,H/G,L,D); stored row by row that is (N,H,L,D).
  if (sizes.size() == 5 && ours.rank() == 4 && sizes[0] == ours.size(0) &&
      sizes[1] * sizes[2] == ours.size(1) && sizes[3] == ours.size(2) && sizes[4] == ours.size(3)) {
    return {{reshaped(stored.tensor(), ours),
             fmt::format("({},G,{}/G,{},{})", ours.name(0), ours.name(1), ours.name(2), ours.name(3))}};
  }
  // attn_mask (N·H,L,S) with its first axis split.
  if (name.id == Id::attn_mask && sizes.size() == 4 && ours.rank() == 3 &&
      sizes[0] * sizes[1] == ours.size(0) && sizes[2] == ours.size(1) && sizes[3] == ours.size(2)) {
    return {{reshaped(stored.tensor(), ours), "(N,H,L,S)"}};
  }
  return {};
}

std::vector<AxisOrder> transposed_orders(const Shape& ours, const std::vector<Index>& stored) {
  std::vector<AxisOrder> orders;
  std::vector<int> axes(static_cast<std::size_t>(ours.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 4 || stored.size() != axes.size()) return orders;
  while (std::ranges::next_permutation(axes).found) {
    AxisOrder order;
    for (const int axis : axes) order.groups.push_back({axis});
    if (order_sizes(ours, order) == stored) orders.push_back(std::move(order));
  }
  return orders;
}

}  // namespace headwise
