#include "core/answers/live_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

bool may_be_several(const LiveQuantity& quantity) {
  if (quantity.word != "cell" || quantity.boxes.size() != 1) return false;
  const std::vector<LiveRange>& ranges = quantity.boxes[0].ranges;
  return ranges.empty() || std::ranges::any_of(ranges, [](const LiveRange& range) {
           return !range.to || *range.to != range.from + 1;
         });
}

void add_boxes(const LiveExpression& expression, std::vector<LiveQuantity>& found) {
  if (expression.operation == "quantity" && may_be_several(expression.quantity) &&
      std::ranges::find(found, expression.quantity) == found.end())
    found.push_back(expression.quantity);
  for (const LiveExpression& operand : expression.operands) add_boxes(operand, found);
}

LiveExpression at_cell(LiveExpression expression, const std::vector<LiveQuantity>& boxes,
                       const std::vector<std::vector<double>>& numbers, std::size_t cell) {
  if (expression.operation == "quantity") {
    const auto box = std::ranges::find(boxes, expression.quantity);
    if (box == boxes.end()) return expression;
    expression.operation = "number";
    expression.number = numbers[static_cast<std::size_t>(box - boxes.begin())][cell];
    return expression;
  }
  for (LiveExpression& operand : expression.operands)
    operand = at_cell(std::move(operand), boxes, numbers, cell);
  return expression;
}

}  // namespace

std::vector<std::size_t> LiveCells::axes() const {
  std::vector<std::size_t> several;
  for (std::size_t axis = 0; axis < cells.from.size(); ++axis)
    if (size(axis) > 1) several.push_back(axis);
  return several;
}

LiveCells live_cells(const LiveExpression& expression, const LiveSubject& subject, Index most) {
  LiveCells found;
  std::vector<LiveQuantity> boxes;
  add_boxes(expression, boxes);
  std::vector<std::vector<double>> numbers;
  for (const LiveQuantity& quantity : boxes) {
    const LiveBox& box = quantity.boxes[0];
    const std::string name = to_string(box.tensor);
    const std::optional<LiveCellRange> range = live_box_cells(box, subject.trace);
    if (!range) {
      found.problem = fmt::format("the trace has no such cells of {}", name);
      return found;
    }
    Index count = 1;
    for (std::size_t axis = 0; axis < range->from.size(); ++axis) count *= range->to[axis] - range->from[axis];
    if (count > most) {
      found.problem = fmt::format("the box of {} has {} cells, and at most {} can be asked for", name, count, most);
      return found;
    }
    numbers.push_back(*live_box_numbers(box, subject.trace));
    if (numbers.size() == 1) {
      found.tensor = box.tensor;
      found.cells = *range;
    } else if (numbers.back().size() != numbers.front().size()) {
      found.problem = fmt::format("the boxes of the key have {} and {} cells", numbers.front().size(),
                                  numbers.back().size());
      return found;
    }
    if (std::ranges::any_of(numbers.back(), [](double number) { return std::isnan(number); })) {
      found.problem = fmt::format("a number of {} that the key needs is NaN", name);
      return found;
    }
  }
  if (numbers.empty()) {
    found.problem = "the key has no box of several cells";
    return found;
  }
  for (std::size_t cell = 0; cell < numbers.front().size(); ++cell)
    found.values.push_back(at_cell(expression, boxes, numbers, cell));
  return found;
}

bool has_cells(const LiveExpression& expression) {
  std::vector<LiveQuantity> boxes;
  add_boxes(expression, boxes);
  return !boxes.empty();
}

}  // namespace headwise
