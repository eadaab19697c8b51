#include "app/content/stage_matrix.h"

#include <fmt/format.h>

#include <algorithm>

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
  if (axis.name == "H") index = place.head;
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
  for (std::size_t i = 0; i + 2 < axes.size(); ++i) {
    if (axes[i].name == "H" || axes[i].name == "G") return &axes[i];
  }
  return nullptr;
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
  for (Index axis = 0; axis + 2 < shape.rank(); ++axis) {
    matrix.leading.push_back(leading_index(trace, shape.axes()[static_cast<std::size_t>(axis)], place));
  }
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
  for (std::size_t i = 0; i < leading; ++i) {
    if (matrix.leading[i] < box.begin[i] || matrix.leading[i] >= box.end[i]) return std::nullopt;
  }
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
  if (shape.rank() == 2 && shown != shape.size(0)) {
    name += fmt::format("[{}:{}]", matrix.row_begin, matrix.row_begin + shown);
  }
  if (shape.rank() == 1 && matrix.view.cols != shape.size(0)) {
    name += fmt::format("[{}:{}]", matrix.row_begin, matrix.row_begin + matrix.view.cols);
  }
  if (matrix.transposed) name += "ᵀ";
  return name;
}

std::string matrix_sizes(const StageMatrix& matrix) {
  if (matrix.row_axis.empty()) return fmt::format("{} {}", matrix.col_axis, matrix.view.cols);
  return fmt::format("{}×{} {}×{}", matrix.row_axis, matrix.col_axis, matrix.view.rows, matrix.view.cols);
}

Index head_block(const Trace& trace, const std::string& axis) {
  if (axis == "H·D" || axis == "G·D") return trace.options.head_dim;
  if (axis == "H·Dv" || axis == "G·Dv") return trace.options.v_head_dim;
  return 0;
}

}  // namespace headwise
