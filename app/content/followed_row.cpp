#include "app/content/followed_row.h"

namespace headwise {

std::optional<FollowedRow> followed_row(const Trace& trace, const Selection& selection) {
  const auto pinned = selection_within(selection, trace).pinned;
  if (!pinned) return std::nullopt;
  const TensorPtr tensor = trace.tensor(pinned->tensor);
  // The gradient of a tensor may still be on its way: it has the tensor's axes.
  const TensorPtr shaped = tensor ? tensor : trace.tensor(pinned->tensor.id);
  if (!shaped) return std::nullopt;
  FollowedRow row;
  bool found = false;
  for (Index axis = 0; axis < shaped->shape().rank(); ++axis) {
    const Index at = pinned->index[static_cast<std::size_t>(axis)];
    if (shaped->shape().name(axis) == "N") row.batch = at;
    if (shaped->shape().name(axis) == "L") {
      row.token = at;
      found = true;
    }
  }
  return found ? std::optional(row) : std::nullopt;
}

std::optional<FollowedLine> followed_line(const StageMatrix& matrix, const FollowedRow& row) {
  if (!matrix.view.tensor) return std::nullopt;
  const Shape& shape = matrix.view.tensor->shape();
  if (!matrix.leading.empty() && shape.name(0) == "N" && matrix.leading.front() != row.batch)
    return std::nullopt;
  const auto inside = [](Index at, Index count) { return at >= 0 && at < count; };
  const Index at = row.token - matrix.row_begin;
  if (matrix.row_axis == "L" && inside(at, matrix.view.rows)) return FollowedLine{false, at};
  if (matrix.col_axis == "L" && inside(at, matrix.view.cols)) return FollowedLine{true, at};
  return std::nullopt;
}

}  // namespace headwise
