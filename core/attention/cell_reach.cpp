#include "core/attention/cell_reach.h"

#include <algorithm>
#include <deque>

#include "core/attention/rules.h"

namespace headwise {
namespace {

std::size_t at(int variable) {
  return static_cast<std::size_t>(variable);
}

Index length(const Interval& interval) {
  return interval.end - interval.begin;
}

// The digits that a term takes on over a non-empty range; `seam`: they are not one interval.
struct TermDigits {
  Index count = 1;
  bool seam = false;
};

TermDigits digits_over(const AxisTerm& term, const Interval& range) {
  const Index first = range.begin / term.divide, last = (range.end - 1) / term.divide;
  const Index count = last - first + 1;
  if (term.modulus == 0) return {count, false};
  if (count >= term.modulus) return {term.modulus, false};
  return {count, first % term.modulus > last % term.modulus};
}

// A variable whose range must be split before the operand's indices over all ranges form a box; −1:
// they do already.
int inexact_variable(const Operand& operand, const std::vector<Interval>& ranges) {
  struct Use {
    int varying = 0;    // terms of the variable with more than one digit
    Index product = 1;  // of the numbers of their digits
  };
  std::vector<Use> uses(ranges.size());
  for (const AxisMap& map : operand.axes) {
    Index indices = 1, span = 1;
    int outermost = -1;
    for (const AxisTerm& term : map.terms) {
      const TermDigits digits = digits_over(term, ranges[at(term.variable)]);
      if (digits.seam) return term.variable;
      if (digits.count == 1) continue;
      indices *= digits.count;
      span += term.times * (digits.count - 1);
      if (outermost < 0) outermost = term.variable;
      ++uses[at(term.variable)].varying;
      uses[at(term.variable)].product *= digits.count;
    }
    if (indices != span) return outermost;
  }
  for (std::size_t v = 0; v < uses.size(); ++v) {
    if (uses[v].varying > 1 && uses[v].product != length(ranges[v])) return static_cast<int>(v);
  }
  return -1;
}

// Where to split: at a turnover of the slowest digit, so that whole periods stay together.
Index split_point(const Operand& operand, int variable, const Interval& range) {
  Index turn = 1;
  for (const AxisMap& map : operand.axes) {
    for (const AxisTerm& term : map.terms) {
      if (term.variable == variable) turn = std::max(turn, term.divide * std::max<Index>(term.modulus, 1));
    }
  }
  const Index first = (range.begin + turn - 1) / turn * turn, last = (range.end - 1) / turn * turn;
  if (first > range.begin && first < range.end) return first;
  if (last > range.begin) return turn > 1 ? last : range.begin + length(range) / 2;
  return range.begin + length(range) / 2;
}

void add_image(const Operand& operand, const std::vector<Interval>& ranges, std::vector<BoxRef>& boxes) {
  const int variable = inexact_variable(operand, ranges);
  if (variable < 0) {
    BoxRef box{operand.tensor, {}, {}};
    for (const AxisMap& map : operand.axes) {
      const Interval interval = mapped_interval(map, ranges);
      box.begin.push_back(interval.begin);
      box.end.push_back(interval.end);
    }
    add_box(boxes, std::move(box));
    return;
  }
  const Interval whole = ranges[at(variable)];
  const Index cut = split_point(operand, variable, whole);
  std::vector<Interval> part = ranges;
  part[at(variable)] = {whole.begin, cut};
  add_image(operand, part, boxes);
  part[at(variable)] = {cut, whole.end};
  add_image(operand, part, boxes);
}

// Digits [begin, end) of one term.
struct Condition {
  AxisTerm term;
  Interval digits;
};

using Conditions = std::vector<Condition>;  // all of them must hold

// The ways in which the terms from `first` on form an index in [begin, end): one condition per term.
void add_ways(const AxisMap& map, std::size_t first, Interval wanted, const Conditions& so_far,
              std::vector<Conditions>& ways) {
  wanted.begin = std::max<Index>(wanted.begin, 0);
  if (wanted.empty()) return;
  if (first == map.terms.size()) {
    if (wanted.begin == 0) ways.push_back(so_far);
    return;
  }
  const AxisTerm& term = map.terms[first];
  const Index times = term.times;
  const auto with = [&](Interval digits, Interval rest) {
    if (digits.empty()) return;
    Conditions more = so_far;
    more.push_back({term, digits});
    add_ways(map, first + 1, rest, more, ways);
  };
  if (first + 1 == map.terms.size()) {
    return with({(wanted.begin + times - 1) / times, (wanted.end + times - 1) / times}, {0, 1});
  }
  const Index low = wanted.begin / times,
              high = wanted.end / times;  // the last digit, if it is partial, is `high`
  const Index low_rest = wanted.begin % times, high_rest = wanted.end % times;
  if (low == high) return with({low, low + 1}, {low_rest, high_rest});
  if (low_rest > 0) with({low, low + 1}, {low_rest, times});
  with({low + (low_rest > 0 ? 1 : 0), high}, {0, times});
  if (high_rest > 0) with({high, high + 1}, {0, high_rest});
}

// The values among `values` for which the term's digit is one of [digits.begin, digits.end).
std::vector<Interval> with_digits(const std::vector<Interval>& values, const Condition& condition) {
  const auto& [term, digits] = condition;
  std::vector<Interval> found;
  const auto add = [&](const Interval& value, Index begin, Index end) {
    const Interval part{std::max(value.begin, begin), std::min(value.end, end)};
    if (part.empty()) return;
    if (!found.empty() && found.back().end == part.begin) {
      found.back().end = part.end;
    } else {
      found.push_back(part);
    }
  };
  for (const Interval& value : values) {
    if (term.modulus == 0) {
      add(value, digits.begin * term.divide, digits.end * term.divide);
      continue;
    }
    const Index turn = term.divide * term.modulus;
    Interval own{digits.begin, std::min(digits.end, term.modulus)};
    if (term.mirrored) own = {term.modulus - own.end, term.modulus - own.begin};
    for (Index k = value.begin / turn; k <= (value.end - 1) / turn; ++k) {
      add(value, k * turn + own.begin * term.divide, k * turn + own.end * term.divide);
    }
  }
  return found;
}

using Values = std::vector<std::vector<Interval>>;  // of each variable, independently

// All sets of values that lead into the box.
std::vector<Values> values_leading_into(const Operand& operand, const BoxRef& box, const Values& all) {
  std::vector<Values> sets{all};
  for (std::size_t axis = 0; axis < operand.axes.size(); ++axis) {
    const AxisMap& map = operand.axes[axis];
    std::vector<Conditions> ways;
    add_ways(map, 0, {box.begin[axis] - map.offset, box.end[axis] - map.offset}, {}, ways);
    std::vector<Values> narrowed;
    for (const Values& set : sets) {
      for (const Conditions& way : ways) {
        Values values = set;
        for (const Condition& condition : way) {
          auto& own = values[at(condition.term.variable)];
          own = with_digits(own, condition);
        }
        const bool none = std::ranges::any_of(values, [](const auto& each) { return each.empty(); });
        if (!none) narrowed.push_back(std::move(values));
      }
    }
    sets = std::move(narrowed);
  }
  return sets;
}

// Whether the two form one box: equal except on one axis, where they touch or overlap.
bool form_one_box(const BoxRef& a, const BoxRef& b) {
  if (a.tensor != b.tensor) return false;
  int differing = 0;
  for (std::size_t axis = 0; axis < a.begin.size(); ++axis) {
    if (a.begin[axis] == b.begin[axis] && a.end[axis] == b.end[axis]) continue;
    ++differing;
    if (a.begin[axis] > b.end[axis] || b.begin[axis] > a.end[axis]) return false;
  }
  return differing <= 1;
}

}  // namespace

bool add_box(std::vector<BoxRef>& boxes, BoxRef box) {
  if (std::ranges::any_of(boxes, [&](const BoxRef& other) { return contains(other, box); })) return false;
  for (bool grown = true; grown;) {
    std::erase_if(boxes, [&](const BoxRef& other) { return contains(box, other); });
    const auto other = std::ranges::find_if(boxes, [&](const BoxRef& each) { return form_one_box(each, box); });
    grown = other != boxes.end();
    if (!grown) break;
    for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
      box.begin[axis] = std::min(box.begin[axis], other->begin[axis]);
      box.end[axis] = std::max(box.end[axis], other->end[axis]);
    }
    boxes.erase(other);
  }
  boxes.push_back(std::move(box));
  return true;
}

namespace {

// Applies a rule to boxes: from a box of its result to the boxes it reads, and from a box of a source to the
// boxes computed from it. Exact: a cell is in one of the boxes if and only if the rule leads there from a
// cell of the given box. The boxes may overlap; their number depends on the heads, never on the cells.
//
// `box` is a box of rule.result, inside its sizes.
std::vector<BoxRef> boxes_read(const Rule& rule, const BoxRef& box) {
  std::vector<BoxRef> boxes;
  for (const Product& product : rule.products) {
    std::vector<Interval> ranges = variable_ranges(rule, product);
    for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
      ranges[axis] = {std::max(ranges[axis].begin, box.begin[axis]), std::min(ranges[axis].end, box.end[axis])};
    }
    if (std::ranges::any_of(ranges, [](const Interval& range) { return range.empty(); })) continue;
    for (const std::vector<Interval>& part : ranges_in_band(product, ranges))
      for (const Operand& factor : product.factors) add_image(factor, part, boxes);
  }
  return boxes;
}

// `box` is a box of a tensor under the name that the rule uses (first_name);
// empty if the rule does not read it.
std::vector<BoxRef> boxes_made_from(const Rule& rule, const BoxRef& box) {
  std::vector<BoxRef> boxes;
  for (const Product& product : rule.products) {
    const std::vector<Interval> ranges = variable_ranges(rule, product);
    if (std::ranges::any_of(ranges, [](const Interval& range) { return range.empty(); })) continue;
    for (const Operand& factor : product.factors) {
      if (factor.tensor != box.tensor) continue;
      for (const std::vector<Interval>& part : ranges_in_band(product, ranges)) {
        Values all;
        for (const Interval& range : part) all.push_back({range});
        for (const Values& values : values_leading_into(factor, box, all))
          for (BoxRef& made : boxes_of(rule, values)) add_box(boxes, std::move(made));
      }
    }
  }
  return boxes;
}

BoxRef box_around(TensorName tensor, const std::vector<Index>& index) {
  BoxRef box{tensor, index, index};
  for (Index& end : box.end) ++end;
  return box;
}

// Everything reachable from the start through `next`, step by step.
template <class Next>
std::vector<BoxRef> closure(const BoxRef& start, Next next) {
  std::vector<BoxRef> reached;
  std::deque<BoxRef> open{start};
  while (!open.empty()) {
    const BoxRef box = std::move(open.front());
    open.pop_front();
    for (BoxRef& found : next(box)) {
      if (add_box(reached, found)) open.push_back(std::move(found));
    }
  }
  return reached;
}

// Adds the part of `box` outside `hole`, as boxes that do not overlap.
void add_difference(const BoxRef& box, const BoxRef& hole, std::vector<BoxRef>& rest) {
  for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
    if (box.end[axis] <= hole.begin[axis] || hole.end[axis] <= box.begin[axis]) return rest.push_back(box);
  }
  BoxRef inner = box;
  for (std::size_t axis = 0; axis < box.begin.size(); ++axis) {
    if (inner.begin[axis] < hole.begin[axis]) {
      rest.push_back(inner);
      rest.back().end[axis] = hole.begin[axis];
      inner.begin[axis] = hole.begin[axis];
    }
    if (inner.end[axis] > hole.end[axis]) {
      rest.push_back(inner);
      rest.back().begin[axis] = hole.end[axis];
      inner.end[axis] = hole.end[axis];
    }
  }
}

}  // namespace

CellReach cell_reach(const Trace& trace, TensorName tensor, const std::vector<Index>& index) {
  CellReach reach{{tensor, index}, {}, {}};
  const Rule own = declared_rule(trace, tensor);
  trace.tensor(tensor)->shape().offset(index);  // throws if the index is out of range
  reach.back = closure(box_around(tensor, index), [&](const BoxRef& box) {
    std::vector<BoxRef> boxes = boxes_read(box.tensor == tensor ? own : declared_rule(trace, box.tensor), box);
    std::erase_if(boxes, [&](const BoxRef& source) { return !trace.tensor(source.tensor); });
    return boxes;
  });

  std::vector<Rule> rules;
  if (tensor.gradient) {
    rules = gradient_rules(trace);
  } else {
    for (const TensorEntry& entry : tensor_entries()) {
      if (trace.tensor(entry.id)) rules.push_back(declared_rule(trace, {entry.id}));
    }
  }
  reach.forward = closure(box_around(first_name(trace, tensor), index), [&](const BoxRef& box) {
    std::vector<BoxRef> boxes;
    for (const Rule& rule : rules) {
      for (BoxRef& made : boxes_made_from(rule, box)) boxes.push_back(std::move(made));
    }
    return boxes;
  });
  return reach;
}

Index cells_covered(const std::vector<BoxRef>& boxes, TensorName tensor) {
  std::vector<BoxRef> apart;  // the same cells, without duplicates
  for (const BoxRef& box : boxes) {
    if (box.tensor != tensor) continue;
    std::vector<BoxRef> rest{box};
    for (const BoxRef& other : apart) {
      std::vector<BoxRef> outside;
      for (const BoxRef& part : rest) add_difference(part, other, outside);
      rest = std::move(outside);
    }
    apart.insert(apart.end(), rest.begin(), rest.end());
  }
  Index cells = 0;
  for (const BoxRef& box : apart) {
    Index count = 1;
    for (std::size_t axis = 0; axis < box.begin.size(); ++axis) count *= box.end[axis] - box.begin[axis];
    cells += count;
  }
  return cells;
}

}  // namespace headwise
