#include "core/gpu/gpu_linear.h"

#include <algorithm>

namespace headwise {
namespace {

// How many rows of this many numbers fit in one binding, which may begin a little early.
Index rows_at_once(const GpuLimits& limits, Index row) {
  return std::max<Index>(1, (limits.storage_block_bytes - limits.offset_alignment) / (4 * row));
}

// A piece of the product that one dispatch may do.
struct Piece {
  Index n, first_row, rows, first_column, columns;
};

void dispatch(const GpuLinear& l, const ComputeProgram& program, const GpuLimits& limits, const Piece& piece,
              Index first_block, Index blocks) {
  const Index alignment = limits.offset_alignment;
  const Index part = piece.first_column / l.out_part;
  program.use();
  program.set("rows", static_cast<std::uint32_t>(piece.rows));
  program.set_size("columns", piece.columns);
  program.set_size("depth", l.depth);
  program.set("a_offset",
              l.x->bind(0, (piece.n * l.rows + piece.first_row) * l.depth, piece.rows * l.depth, alignment));
  program.set("w_offset", l.weight->bind(1, (l.first_weight_row + piece.first_column) * l.depth,
                                         piece.columns * l.depth, alignment));
  program.set("has_bias", l.bias != nullptr);
  if (l.bias)
    program.set("bias_offset",
                l.bias->bind(2, l.first_bias_entry + piece.first_column, piece.columns, alignment));
  Index first = piece.n * l.out_batch_stride, count = 0, inside = 0;
  if (piece.columns > l.out_part) {  // whole parts, all of their rows
    first += part * l.out_part_stride;
    count = piece.columns / l.out_part * l.out_part_stride;
    inside = piece.first_row * l.out_row_stride;
  } else {  // some rows of one part
    first += part * l.out_part_stride + piece.first_row * l.out_row_stride;
    count = piece.rows * l.out_row_stride;
    inside = piece.first_column % l.out_part;
  }
  const std::uint32_t out = l.out->bind(3, first, std::min(count, l.out->count() - first), alignment);
  program.set("c_offset", out + static_cast<std::uint32_t>(inside));
  program.set_size("c_stride", l.out_row_stride);
  program.set_size("c_part", l.out_part);
  program.set_size("c_part_stride", l.out_part_stride);
  program.set_size("first_block", first_block);
  glDispatchCompute(static_cast<GLuint>(blocks), 1, 1);
}

}  // namespace

void add_linear(GpuWork& work, GpuPrograms& programs, const GpuLinear& l) {
  const GpuLimits& limits = programs.limits();
  // Small products need many small groups rather than a few large ones.
  const bool large = l.rows >= 256 && l.columns >= 256;
  const MatrixProductTile tile{large ? 2 : 1, large ? 2 : 1, l.depth % 4 != 0};
  const ComputeProgram& program = programs.matrix_product(tile);
  const bool in_parts = l.out_part < l.columns;
  Index rows_each = rows_at_once(limits, l.depth);
  Index columns_each = rows_at_once(limits, l.depth);
  if (in_parts) {
    columns_each = std::min(columns_each / l.out_part, rows_at_once(limits, l.out_part_stride)) * l.out_part;
    columns_each = std::max(columns_each, l.out_part);
    if (columns_each == l.out_part) rows_each = std::min(rows_each, rows_at_once(limits, l.out_row_stride));
  } else {
    rows_each = std::min(rows_each, rows_at_once(limits, l.out_row_stride));
  }
  const Index height = 64 * tile.rows, width = 64 * tile.columns;
  const auto add = [&](const TokenRange& range) {
    const Index end = range.first + range.count;
    for (Index column = 0; column < l.columns; column += columns_each) {
      for (Index row = range.first; row < end; row += rows_each) {
        const Piece piece{range.n, row, std::min(rows_each, end - row), column,
                          std::min(columns_each, l.columns - column)};
        work.add({"matrix_product", (piece.rows + height - 1) / height * ((piece.columns + width - 1) / width),
                  static_cast<double>(height * width) * static_cast<double>(l.depth),
                  [l, &program, &limits, piece](Index first, Index count) {
                    for (Index done = 0; done < count; done += limits.groups_x)
                      dispatch(l, program, limits, piece, first + done,
                               std::min(limits.groups_x, count - done));
                  }});
      }
    }
  };
  if (l.only) {
    std::ranges::for_each(*l.only, add);
  } else {
    for (Index n = 0; n < l.batch; ++n) add({n, 0, l.rows});
  }
}

}  // namespace headwise
