// How one axis of an operand is indexed by a rule (core/trace/rules.h): a small function that runs forwards,
// from a cell of the result to the cells it was made from, and backwards, from a cell of the operand to the
// cells it feeds.
//
// The variables of a rule are the axes of its result, in order, followed by the axes that its product is summed over.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// [begin, end)
struct Interval {
  Index begin = 0, end = 0;
  bool empty() const { return end <= begin; }
  bool contains(Index i) const { return begin <= i && i < end; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// times · ((x / divide) % modulus), where x is the variable; modulus 0 means no remainder is taken.
struct AxisTerm {
  int variable = 0;
  Index divide = 1;   // >= 1
  Index modulus = 0;  // >= 0
  Index times = 1;    // >= 1
  friend bool operator==(const AxisTerm&, const AxisTerm&) = default;
};

// offset + the sum of the terms. No terms: always `offset` (a broadcast axis, or an appended row). The offset is negative
// where a rule is inverted: row i of in_proj_weight is column i − H·D of k. Several terms join axes, as in n·H + h: with the
// larger `times` first, each must exceed what the terms after it can reach, so that the parts can be recovered, like the
// digits of a number.
struct AxisMap {
  Index offset = 0;
  std::vector<AxisTerm> terms;
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

AxisMap axis_fixed(Index index);                  // always that index
AxisMap axis_of(int variable, Index offset = 0);  // x + offset
AxisMap axis_group(int variable, Index group);  // x / group: the head of a column, the key/value head of a head
AxisMap axis_within(int variable, Index group);  // x % group: the column inside its head
AxisMap axis_joined(int outer, Index inner_size, int inner,
                    Index offset = 0);  // x_outer·inner_size + x_inner + offset

Index mapped_index(const AxisMap& map, std::span<const Index> variables);

// All indices that the map takes on while each variable runs over its interval, none of which is empty.
Interval mapped_interval(const AxisMap& map, std::span<const Interval> ranges);

// The same index when variable v is itself values[v], a map of other variables that run over `ranges`, none of them empty;
// used to invert a rule (core/trace/transposed_product.h). nullopt if the digits can no longer be separated: (8·x + y) / 3,
// say; (8·x + y) / 8 is x if y stays below 8.
std::optional<AxisMap> substituted(const AxisMap& map, std::span<const AxisMap> values,
                                   std::span<const Interval> ranges);

// Backwards, for all axes of an operand together: which values of each variable, inside its range, lead to `index`. One list
// of intervals per variable; variables are independent, so the cells are all combinations. If nothing leads there, all lists
// are empty.
std::vector<std::vector<Interval>> variables_leading_to(std::span<const Index> index,
                                                        std::span<const AxisMap> maps,
                                                        std::span<const Interval> ranges);

}  // namespace headwise
