#include "app/session/selection.h"

#include <algorithm>

#include "core/trace/rules.h"

namespace headwise {
namespace {

bool has_cell(const Trace& trace, const CellRef& cell) {
  const bool expected = cell.tensor.gradient && !has_backward_pass(trace);
  const TensorPtr tensor = expected ? trace.tensor(cell.tensor.id) : trace.tensor(cell.tensor);
  if (!tensor || static_cast<Index>(cell.index.size()) != tensor->shape().rank()) return false;
  for (std::size_t axis = 0; axis < cell.index.size(); ++axis) {
    if (cell.index[axis] < 0 || cell.index[axis] >= tensor->shape().size(static_cast<Index>(axis)))
      return false;
  }
  return true;
}

// Of a head that is there no more the same cell of the last one: the head that is shown moves there, too.
std::optional<CellRef> cell_within(const Trace& trace, CellRef cell) {
  const TensorPtr tensor = trace.tensor(cell.tensor.id);  // a gradient has the axes of its tensor
  if (tensor && tensor->shape().rank() == 4 && cell.index.size() == 4)
    cell.index[1] = std::min(cell.index[1], tensor->shape().size(1) - 1);
  return has_cell(trace, cell) ? std::optional(cell) : std::nullopt;
}

}  // namespace

Selection look_at(const Preset& preset, Selection selection) {
  selection.head = preset.head;
  if (!preset.weight) return selection;
  const auto [query, key] = *preset.weight;
  selection.step = Step::softmax;
  selection.view = StageView::one_head;
  selection.batch = 0;
  selection.tensor = std::nullopt;
  selection.pinned = CellRef{{TensorId::attn_weights}, {0, preset.head, query, key}};
  return selection;
}

bool wants_gradients(const Selection& selection) {
  const auto is_gradient = [](const std::optional<CellRef>& cell) { return cell && cell->tensor.gradient; };
  return selection.view == StageView::gradients || is_gradient(selection.pinned) ||
         is_gradient(selection.hovered);
}

Selection selection_within(const Selection& selection, const Trace& trace) {
  Selection within = selection;
  const Index batches = trace.tensors.q_heads ? trace.tensors.q_heads->shape().size(0) : 1;
  within.batch = std::clamp<Index>(within.batch, 0, std::max<Index>(batches - 1, 0));
  within.head = std::clamp<Index>(within.head, 0, std::max<Index>(trace.options.num_heads - 1, 0));
  if (within.hovered && !has_cell(trace, *within.hovered)) within.hovered.reset();
  if (within.pinned) within.pinned = cell_within(trace, *within.pinned);
  if (within.tensor && !trace.tensor(*within.tensor)) within.tensor.reset();
  return within;
}

bool same_but_for_head(const CellRef& a, const CellRef& b) {
  if (a.tensor != b.tensor || a.index.size() != b.index.size()) return false;
  const std::size_t leading = a.index.size() > 2 ? a.index.size() - 2 : 0;
  for (std::size_t axis = leading; axis < a.index.size(); ++axis) {
    if (a.index[axis] != b.index[axis]) return false;
  }
  return true;
}

void Trail::left(const Selection& from, const Selection& to, bool always) {
  if (!from.pinned || !to.pinned) return;
  if (!always && same_but_for_head(*from.pinned, *to.pinned)) return;
  if (places_.size() >= most) places_.erase(places_.begin());
  places_.push_back(from);
  places_.back().hovered.reset();
}

std::optional<Selection> Trail::back() {
  if (places_.empty()) return std::nullopt;
  Selection place = places_.back();
  places_.pop_back();
  return place;
}

}  // namespace headwise
