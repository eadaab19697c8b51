#include "app/session/selection.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/rules.h"

namespace headwise {
namespace {

bool has_cell(const Trace& trace, const CellRef& cell) {
  const bool expected = cell.tensor.gradient && !has_backward_pass(trace);
  const TensorPtr tensor = expected ? trace.tensor(cell.tensor.id) : trace.tensor(cell.tensor);
  if (!tensor || static_cast<Index>(cell.index.size()) != tensor->shape().rank()) return false;
  for (std::size_t axis = 0; axis < cell.index.size(); ++axis)
    if (cell.index[axis] < 0 || cell.index[axis] >= tensor->shape().size(static_cast<Index>(axis)))
      return false;
  return true;
}

// Of a head that is there no more the same cell of the last one: the head that is shown moves there, too.
std::optional<CellRef> cell_within(const Trace& trace, CellRef cell) {
  const TensorPtr tensor = trace.tensor(cell.tensor.id);  // a gradient has the axes of its tensor
  if (tensor && tensor->shape().rank() == 4 && cell.index.size() == 4)
    cell.index[1] = std::min(cell.index[1], tensor->shape().size(1) - 1);
  return has_cell(trace, cell) ? std::optional(cell) : std::nullopt;
}

// A pinned cell that moved along to another head or batch counts as the same place.
bool same_but_for_head(const CellRef& a, const CellRef& b) {
  if (a.tensor != b.tensor || a.index.size() != b.index.size()) return false;
  const std::size_t leading = a.index.size() > 2 ? a.index.size() - 2 : 0;
  for (std::size_t axis = leading; axis < a.index.size(); ++axis)
    if (a.index[axis] != b.index[axis]) return false;
  return true;
}

// Tokenizers differ in how they treat capitals.
bool same_word(const std::string& a, const std::string& b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The new position of the occurrence of a word that was at `at`.
std::optional<Index> followed(Index at, const std::vector<std::string>& before,
                              const std::vector<std::string>& now) {
  if (at < 0 || at >= static_cast<Index>(before.size())) return {};
  const std::string& word = before[static_cast<std::size_t>(at)];
  const auto is_word = [&](const std::string& other) { return same_word(other, word); };
  auto earlier = std::ranges::count_if(before.begin(), before.begin() + at, is_word);
  for (std::size_t i = 0; i < now.size(); ++i)
    if (is_word(now[i]) && earlier-- == 0) return static_cast<Index>(i);
  return {};
}

std::optional<CellRef> followed(const CellRef& pin, const TokenLabels& before, const TokenLabels& now,
                                const Trace& trace) {
  const TensorPtr tensor = trace.tensor(pin.tensor.id);  // a gradient has the axes of its tensor
  if (!tensor || tensor->shape().rank() != static_cast<Index>(pin.index.size())) return {};
  CellRef result = pin;
  for (std::size_t axis = 0; axis < pin.index.size(); ++axis) {
    const std::string& name = tensor->shape().name(static_cast<Index>(axis));
    const std::vector<std::string>*then = before.along(name), *are = now.along(name);
    if (!then || !are) continue;
    const auto at = followed(pin.index[axis], *then, *are);
    if (!at) return {};
    result.index[axis] = *at;
  }
  return result;
}

// Back to the head that was lost, unless another one has been chosen since.
void regain_head(Selection& after, Index heads_before, Index heads) {
  if (!after.lost_head) return;
  const LostHead lost = *after.lost_head;
  if (after.head != heads_before - 1)
    after.lost_head.reset();
  else if (lost.head < heads) {
    after.head = lost.head;
    if (lost.pinned && (!after.pinned || same_but_for_head(*after.pinned, *lost.pinned)))
      after.pinned = lost.pinned;
    after.lost_head.reset();
  }
}

}  // namespace

Selection weights_of_head(Selection selection, Index head) {
  selection.step = Step::softmax;
  selection.view = StageView::one_head;
  selection.batch = 0;
  selection.head = head;
  selection.pinned.reset();
  selection.tensor.reset();
  return selection;
}

Selection place_of_preset(const Preset& preset, Selection selection) {
  selection.head = preset.head;
  if (!preset.weight) return selection;
  const auto [query, key] = *preset.weight;
  selection = weights_of_head(selection, preset.head);
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
  if (std::ranges::count(shown_steps(trace.options), within.step) == 0) within.step = Step::split_heads;
  return within;
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

const CellReach* ReachOfCell::of(const TracePtr& trace, const std::optional<CellRef>& cell) {
  if (!trace || !cell || !trace->tensor(cell->tensor)) {
    trace_.reset();
    return nullptr;
  }
  if (trace_ == trace && reach_.cell == *cell) return &reach_;
  reach_ = cell_reach(*trace, cell->tensor, cell->index);
  trace_ = trace;
  return &reach_;
}

Selection selection_after(const Selection& selection, const Computation& before, const Computation& now) {
  Selection after = selection;
  const InputsSpec &a = before.scenario.inputs, &b = now.scenario.inputs;
  const bool same_text = a.source == b.source && a.text == b.text && a.key_text == b.key_text;
  const TokenLabels &were = before.inputs.labels, &are = now.inputs.labels;
  const bool same_tokens = were.query == are.query && were.key == are.key;
  if (after.pinned && same_text && !same_tokens)
    after.pinned = followed(*after.pinned, were, are, *now.trace);
  const Index heads = now.trace->options.num_heads;
  regain_head(after, before.trace->options.num_heads, heads);
  const Selection within = selection_within(after, *now.trace);
  if (within.head == after.head || after.lost_head) return within;
  Selection fewer = within;
  fewer.lost_head = LostHead{after.head, within.pinned == after.pinned ? std::nullopt : after.pinned};
  return fewer;
}

}  // namespace headwise
