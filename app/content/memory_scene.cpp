#include "app/content/memory_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/content/stage_content.h"

namespace headwise {
namespace {

using Id = TensorId;

std::size_t last_state_in(const std::vector<MemoryState>& states, std::size_t memory) {
  std::size_t copies = 0, last = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].copied) ++copies;
    if (copies <= memory) last = i;
  }
  return last;
}

std::size_t memories_of(const std::vector<MemoryState>& states) {
  return 1 + static_cast<std::size_t>(std::ranges::count_if(states, &MemoryState::copied));
}

// The focused float, in a tensor that this step begins or ends with.
std::optional<Index> pointed_index(const MemoryOrder& order, const Trace& trace, const Selection& selection) {
  const std::optional<CellRef> cell = focused_cell(trace, selection);
  if (!cell || cell->tensor.gradient) return std::nullopt;
  const auto is = [&](const TracedAxes& traced) {
    return first_name(trace, cell->tensor) == first_name(trace, {traced.tensor});
  };
  if (is(order.result)) return float_of(order.states, order.last(), to_layout(order.result, cell->index));
  if (is(order.source)) return float_of(order.states, 0, to_layout(order.source, cell->index));
  return std::nullopt;
}

}  // namespace

Index MemoryScene::right_float(Index row, Index col) const {
  return float_of(order.states, order.last(), to_layout(order.result, cell_at(matrix, row, col).index));
}

Index MemoryScene::wrong_float(Index row, Index col) const {
  return float_of(order.wrong, order.wrong.size() - 1,
                  to_layout(order.result, cell_at(matrix, row, col).index));
}

CellRef MemoryScene::cell_of_float(Index float_index) const {
  return {matrix.name, from_layout(order.result, headwise::cell_of(order.states, order.last(), float_index))};
}

std::optional<std::pair<Index, Index>> MemoryScene::place() const {
  const auto box = drawn_box(matrix, box_of(cell_of_float(first_float)));
  if (!box) return std::nullopt;
  return std::pair{box->row_begin, box->col_begin};
}

std::size_t MemoryScene::memories() const {
  return memories_of(order.states);
}

std::size_t MemoryScene::last_in(std::size_t memory) const {
  return last_state_in(order.states, memory);
}

std::optional<MemoryScene> memory_scene(const Trace& trace, const Selection& selection, bool batch_first) {
  const std::optional<StepPicture> picture = shown_picture(trace, selection);
  const TensorPtr shown = picture ? trace.tensor(picture->result) : nullptr;
  if (!shown || shown->size() == 0) return std::nullopt;
  const bool by_itself = selection.tensor && step_of(*selection.tensor, trace.options) != selection.step;
  MemoryScene scene;
  scene.order = memory_order(trace, by_itself ? step_of(picture->result, trace.options) : selection.step,
                             picture->result, batch_first);
  const Id result = scene.order.result.tensor;
  const bool turned = (result == Id::k_heads || result == Id::k_normed || result == Id::k_rotary ||
                       result == Id::present_key) &&
                      picture->result == Id::scores;
  auto matrix = stage_matrix(trace, {result}, {selection.batch, selection.head}, turned);
  if (!matrix || matrix->view.tensor->size() == 0) return std::nullopt;
  scene.matrix = std::move(*matrix);
  const auto seen = pointed_index(scene.order, trace, selection);
  scene.example = !seen;
  // A cell in the middle is more instructive than one whose indices are 0.
  const MatrixView& view = scene.matrix.view;
  scene.first_float =
      seen ? *seen : scene.right_float(std::min<Index>(3, view.rows - 1), std::min<Index>(5, view.cols - 1));
  scene.cell = cell_of(scene.order.states, scene.order.last(), scene.first_float);
  // A matrix of all heads has no head of its own: use the selected one.
  const bool joined = scene.matrix.leading.size() < 2 && scene.order.heads > 0;
  scene.map = joined
                  ? std::min(selection.head * scene.order.heads / std::max<Index>(1, trace.options.num_heads),
                             scene.order.heads - 1)
                  : head_of_float(scene.order, scene.right_float(0, 0)).value_or(0);
  return scene;
}

std::vector<std::string> offset_formulas(const std::vector<MemoryState>& states,
                                         const std::vector<Index>& cell, bool letters) {
  std::vector<std::string> lines;
  const Index first_float = float_of(states, states.size() - 1, cell);
  for (std::size_t memory = memories_of(states); memory-- > 0;) {
    const std::size_t state = last_state_in(states, memory);
    const StridedLayout& layout = states[state].layout;
    const std::vector<Index> index = cell_of(states, state, first_float);
    lines.push_back(fmt::format("{} = {}{} = {}", memory > 0 ? "offset in copy" : "offset",
                                letters ? layout.offset_letters() + " = " : "", layout.offset_numbers(index),
                                layout.offset(index)));
  }
  return lines;
}

std::string memory_words(const MemoryScene& scene, const Trace& trace) {
  const MemoryOrder& order = scene.order;
  switch (order.states.size() > 1 ? order.result.tensor : Id::output) {
    case Id::q_heads:
    case Id::v_heads:
    case Id::k_heads:
    case Id::k_normed:
    case Id::k_rotary:
    case Id::present_key:
      if (scene.matrix.transposed)
        return "A transpose swaps two strides and moves no float: kᵀ is k read down its columns. A reshape "
               "to the same shape is not a transpose: it still reads along the rows.";
      return "view gives the same floats new axes, and transpose swaps two strides: no float moves. A view "
             "straight to heads has the right shape and raises no error, but splits by tokens.";
    case Id::concat:
      if (scene.memories() == 1) return "Every float is already in place: nothing has to be copied.";
      return "Transposed back, a token's heads lie apart: .contiguous() rewrites all floats side by side.";
    default:
      break;
  }
  std::string words = "Stored row by row: the strides follow from the shape.";
  if (projects(trace.options.op)) words += " Views and transposes appear at Split heads, Scores and Concat.";
  return words;
}

}  // namespace headwise
