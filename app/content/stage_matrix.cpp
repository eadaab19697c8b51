#include "app/content/stage_matrix.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/session/tensor_export.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

Index heads_per_group(const Trace& trace) {
  const Index groups = std::max<Index>(1, trace.options.num_kv_heads);
  return std::max<Index>(1, trace.options.num_heads / groups);
}

Index leading_index(const Trace& trace, const Axis& axis, StagePlace place) {
  Index index = 0;
  if (axis.name == "N") index = place.batch;
  if (axis.name == "H" || axis.name == "Hi") index = place.head;  // Hi: those of the indexer
  if (axis.name == "G") index = place.head / heads_per_group(trace);
  if (axis.name == "F") {  // the slice that this head keeps, if it is frozen
    const std::vector<Index>& frozen = trace.options.frozen_heads;
    index = std::ranges::find(frozen, place.head) - frozen.begin();
  }
  if (axis.name == "N·H") index = place.batch * trace.options.num_heads + place.head;
  return std::clamp<Index>(index, 0, std::max<Index>(0, axis.size - 1));
}

const Axis* head_axis(const Tensor& tensor) {
  const auto& axes = tensor.shape().axes();
  for (std::size_t i = 0; i + 2 < axes.size(); ++i)
    if (axes[i].name == "H" || axes[i].name == "G") return &axes[i];
  return nullptr;
}

// The mark that matters most for the labels: the cell itself, then what it was computed from,
// then what it feeds.
template <class Single>
std::optional<Index> singled_out(const StageMatrix& matrix, const std::vector<StageMark>& marks, Single single) {
  for (const MarkKind kind :
       {MarkKind::pointed, MarkKind::cell, MarkKind::source, MarkKind::consumer, MarkKind::pinned}) {
    for (const StageMark& mark : marks) {
      if (mark.kind != kind) continue;
      const auto box = drawn_box(matrix, mark.box);
      if (!box) continue;
      if (const auto index = single(*box)) return index;
    }
  }
  return std::nullopt;
}

constexpr TensorName dropped{TensorId::dropped_weights}, weights{TensorId::attn_weights};

bool without_dropout(const Trace& trace) {
  return trace.tensors.dropped_weights && trace.tensors.dropped_weights == trace.tensors.attn_weights;
}

BoxRef shown_box(const Trace& trace, BoxRef box) {
  if (box.tensor == dropped && without_dropout(trace)) box.tensor = weights;
  return box;
}

void add_next(const Trace& trace, const CellRef& cell, std::vector<StageMark>& marks) {
  for (BoxRef& box : shown_consumers(trace, cell)) marks.push_back({std::move(box), MarkKind::consumer});
  for (BoxRef& box : shown_provenance(trace, cell).sources)
    marks.push_back({std::move(box), MarkKind::source});
}

}  // namespace

Index head_count(const Trace& trace, TensorName name) {
  const TensorPtr tensor = trace.tensor(name);
  const Axis* axis = tensor ? head_axis(*tensor) : nullptr;
  return axis ? axis->size : 1;
}

Index head_of_map(const Trace& trace, TensorName name, Index i) {
  const TensorPtr tensor = trace.tensor(name);
  const Axis* axis = tensor ? head_axis(*tensor) : nullptr;
  return axis && axis->name == "G" ? i * heads_per_group(trace) : i;
}

std::optional<StageMatrix> stage_matrix(const Trace& trace, TensorName name, StagePlace place,
                                        bool transposed, Index row_begin, Index row_end) {
  const TensorPtr tensor = trace.tensor(name);
  if (!tensor) return std::nullopt;
  const Shape& shape = tensor->shape();
  StageMatrix matrix;
  matrix.name = first_name(trace, name);
  matrix.transposed = transposed;
  matrix.row_begin = row_begin;
  for (Index axis = 0; axis + 2 < shape.rank(); ++axis)
    matrix.leading.push_back(leading_index(trace, shape.axes()[static_cast<std::size_t>(axis)], place));
  if (tensor->size() == 0) {
    // No cell to point at; only the sizes are useful.
    matrix.view.tensor = tensor;
    matrix.view.rows = shape.rank() < 2 ? 1 : shape.size(shape.rank() - 2);
    matrix.view.cols = shape.rank() < 1 ? 1 : shape.size(shape.rank() - 1);
  } else {
    matrix.view = matrix_view(tensor, matrix.leading);
    if (row_end > row_begin) {
      const bool one_row = shape.rank() < 2;
      matrix.view.offset += row_begin * (one_row ? matrix.view.col_stride : matrix.view.row_stride);
      (one_row ? matrix.view.cols : matrix.view.rows) = row_end - row_begin;
    }
  }
  if (shape.rank() >= 2) matrix.row_axis = shape.name(shape.rank() - 2);
  if (shape.rank() >= 1) matrix.col_axis = shape.name(shape.rank() - 1);
  if (transposed) {
    matrix.view = matrix.view.transposed();
    std::swap(matrix.row_axis, matrix.col_axis);
  }
  return matrix;
}

bool is_pair_map(const StageMatrix& matrix) {
  return is_pair_map(*matrix.view.tensor);
}

CellRef cell_at(const StageMatrix& matrix, Index row, Index col) {
  if (matrix.transposed) std::swap(row, col);
  CellRef cell{matrix.name, matrix.leading};
  const Index rank = matrix.view.tensor->shape().rank();
  if (rank >= 2) cell.index.push_back(row + matrix.row_begin);
  if (rank >= 1) cell.index.push_back(rank == 1 ? col + matrix.row_begin : col);
  return cell;
}

std::optional<CellBox> drawn_box(const StageMatrix& matrix, const BoxRef& box) {
  if (box.tensor != matrix.name) return std::nullopt;
  const std::size_t leading = matrix.leading.size();
  const std::size_t rank = static_cast<std::size_t>(matrix.view.tensor->shape().rank());
  if (box.begin.size() != rank || box.end.size() != rank || rank == 0) return std::nullopt;
  for (std::size_t i = 0; i < leading; ++i)
    if (matrix.leading[i] < box.begin[i] || matrix.leading[i] >= box.end[i]) return std::nullopt;
  CellBox cells;
  if (rank == 1) {
    cells = {0, 1, box.begin[0] - matrix.row_begin, box.end[0] - matrix.row_begin};
  } else {
    cells = {box.begin[leading] - matrix.row_begin, box.end[leading] - matrix.row_begin,
             box.begin[leading + 1], box.end[leading + 1]};
  }
  if (matrix.transposed) cells = {cells.col_begin, cells.col_end, cells.row_begin, cells.row_end};
  cells.row_begin = std::max<Index>(cells.row_begin, 0);
  cells.col_begin = std::max<Index>(cells.col_begin, 0);
  cells.row_end = std::min(cells.row_end, matrix.view.rows);
  cells.col_end = std::min(cells.col_end, matrix.view.cols);
  if (cells.row_begin >= cells.row_end || cells.col_begin >= cells.col_end) return std::nullopt;
  return cells;
}

BoxRef box_of(const CellRef& cell) {
  BoxRef box{cell.tensor, cell.index, cell.index};
  for (Index& end : box.end) ++end;
  return box;
}

std::string matrix_name(const StageMatrix& matrix) {
  std::string name = to_string(matrix.name);
  const Index shown = matrix.transposed ? matrix.view.cols : matrix.view.rows;
  const Shape& shape = matrix.view.tensor->shape();
  if (!matrix.leading.empty()) name += fmt::format("[{}]", join(matrix.leading, ","));
  if (shape.rank() == 2 && shown != shape.size(0))
    name += fmt::format("[{}:{}]", matrix.row_begin, matrix.row_begin + shown);
  if (shape.rank() == 1 && matrix.view.cols != shape.size(0))
    name += fmt::format("[{}:{}]", matrix.row_begin, matrix.row_begin + matrix.view.cols);
  if (matrix.transposed) name += "ᵀ";
  return name;
}

std::string matrix_sizes(const StageMatrix& matrix) {
  if (matrix.row_axis.empty()) return fmt::format("{} {}", matrix.col_axis, matrix.view.cols);
  return fmt::format("{}×{} {}×{}", matrix.row_axis, matrix.col_axis, matrix.view.rows, matrix.view.cols);
}

Index head_block(const Trace& trace, const std::string& axis) {
  if (axis == "H·D" || axis == "G·D") return trace.options.head_dim;
  if (axis == "H·(Dn+Dv)") return trace.options.qk_nope_head_dim.value_or(0) + trace.options.v_head_dim;
  if (axis == "H·Dv" || axis == "G·Dv") return trace.options.v_head_dim;
  return 0;
}

CellProvenance shown_provenance(const Trace& trace, const CellRef& cell) {
  CellProvenance provenance = cell_provenance(trace, cell.tensor, cell.index);
  if (!without_dropout(trace)) return provenance;
  for (BoxRef& box : provenance.sources) box = shown_box(trace, std::move(box));
  for (Term& term : provenance.terms)
    for (CellRef& factor : term.factors)
      if (factor.tensor == dropped) factor.tensor = weights;
  return provenance;
}

std::vector<BoxRef> shown_consumers(const Trace& trace, const CellRef& cell) {
  std::vector<BoxRef> consumers = cell_consumers(trace, cell.tensor, cell.index);
  if (cell.tensor != weights || !without_dropout(trace)) return consumers;
  std::erase_if(consumers, [](const BoxRef& box) { return box.tensor == dropped; });
  std::vector<BoxRef> shown = cell_consumers(trace, dropped, cell.index);
  shown.insert(shown.end(), consumers.begin(), consumers.end());
  return shown;
}

std::optional<CellRef> pinned_pair_at_step(const Trace& trace, const Selection& selection) {
  const auto map_of = [](Step step) -> std::optional<TensorId> {
    switch (step) {
      case Step::scores:
        return TensorId::scores;
      case Step::scale:
        return TensorId::scaled_scores;
      case Step::mask:
        return TensorId::masked_scores;
      case Step::softmax:
        return TensorId::attn_weights;
      default:
        return std::nullopt;
    }
  };
  const std::optional<CellRef>& pinned = selection.pinned;
  const std::optional<TensorId> map = map_of(selection.step);
  if (!pinned || pinned->tensor.gradient || !map || selection.tensor) return std::nullopt;
  const Step made_in = step_of(pinned->tensor.id, trace.options);
  if (made_in == selection.step || map_of(made_in) != pinned->tensor.id) return std::nullopt;
  const TensorPtr here = trace.tensor(*map), there = trace.tensor(pinned->tensor.id);
  if (!here || !there || !(here->shape() == there->shape())) return std::nullopt;
  return CellRef{{*map}, pinned->index};
}

std::optional<CellRef> focused_cell(const Trace& trace, const Selection& selection) {
  const Selection within = selection_within(selection, trace);
  if (!within.hovered)
    if (const auto here = pinned_pair_at_step(trace, within)) return here;
  const std::optional<CellRef>& cell = within.hovered ? within.hovered : within.pinned;
  // A gradient may still be on its way.
  return cell && trace.tensor(cell->tensor) ? cell : std::nullopt;
}

std::vector<StageMark> stage_marks(const Trace& trace, const Selection& asked, const Pointed* pointed,
                                   const CellReach* reach) {
  std::vector<StageMark> marks;
  const Selection selection = selection_within(asked, trace);
  if (reach) {
    for (const BoxRef& box : reach->forward) marks.push_back({shown_box(trace, box), MarkKind::consumer});
    for (const BoxRef& box : reach->back) marks.push_back({shown_box(trace, box), MarkKind::source});
  }
  if (const std::optional<CellRef> cell = focused_cell(trace, selection)) {
    if (!reach) add_next(trace, *cell, marks);
    if (selection.pinned && *selection.pinned != *cell)
      marks.push_back({box_of(*selection.pinned), MarkKind::pinned});
    marks.push_back({box_of(*cell), MarkKind::cell});
  }
  if (!pointed) return marks;
  for (BoxRef box : pointed->boxes) {
    box.tensor = first_name(trace, box.tensor);
    marks.push_back({std::move(box), MarkKind::pointed});
  }
  return marks;
}

std::optional<Index> marked_row(const StageMatrix& matrix, const std::vector<StageMark>& marks) {
  return singled_out(matrix, marks, [&](const CellBox& box) -> std::optional<Index> {
    return box.row_end - box.row_begin == 1 && matrix.view.rows > 1 ? std::optional(box.row_begin)
                                                                    : std::nullopt;
  });
}

std::optional<Index> marked_col(const StageMatrix& matrix, const std::vector<StageMark>& marks) {
  return singled_out(matrix, marks, [&](const CellBox& box) -> std::optional<Index> {
    return box.col_end - box.col_begin == 1 && matrix.view.cols > 1 ? std::optional(box.col_begin)
                                                                    : std::nullopt;
  });
}

}  // namespace headwise
