#include "core/trace/cell_reach.h"

#include <algorithm>
#include <deque>

#include "core/trace/box_maps.h"
#include "core/trace/gradient_rules.h"

namespace headwise {
namespace {

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
