#include "core/gpu/linear_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace headwise {
namespace {

// How many rows of this many numbers fit in one binding, which may begin a little early.
Index rows_at_once(const GpuLimits& limits, Index row) {
  return std::max<Index>(1, (limits.storage_block_bytes - limits.offset_alignment) / (4 * row));
}

Index tiles(Index length, Index vec4s) {
  const Index side = 64 * vec4s;
  return (length + side - 1) / side;
}

}  // namespace

MatrixProductTile matrix_product_tile(const LinearSizes& sizes, const GpuLimits& limits, double processors) {
  const TileChoice& choice = limits.tiles.product;
  const Index odd = sizes.depth | sizes.columns | sizes.out_part | sizes.out_row_stride | sizes.out_part_stride;
  const bool ragged = odd % 4 != 0 || rows_at_once(limits, sizes.depth) < 4;
  const auto groups = static_cast<double>(sizes.batch * tiles(sizes.rows, 2) * tiles(sizes.columns, 2));
  // Small products need many small groups rather than a few large ones.
  const bool few = sizes.rows < 256 || sizes.columns < 256 || groups < 2.0 * processors;
  const bool small = !choice.large || (few && !limits.tiles.exact);
  const Index vec4s = small ? 1 : 2;
  return {vec4s, vec4s, ragged, choice.loads_ahead};
}

std::vector<LinearPiece> plan_linear(const LinearSizes& s, const std::vector<TokenRange>& rows,
                                     const GpuLimits& limits) {
  Index rows_each = rows_at_once(limits, s.depth);
  Index columns_each = rows_at_once(limits, s.depth);
  if (s.out_part < s.columns) {
    columns_each = std::min(columns_each / s.out_part, rows_at_once(limits, s.out_part_stride)) * s.out_part;
    columns_each = std::max(columns_each, s.out_part);
    if (columns_each == s.out_part) rows_each = std::min(rows_each, rows_at_once(limits, s.out_row_stride));
  } else {
    rows_each = std::min(rows_each, rows_at_once(limits, s.out_row_stride));
    if (columns_each >= 4) columns_each -= columns_each % 4;  // for tiles that are not ragged
  }
  std::vector<LinearPiece> pieces;
  for (const TokenRange& range : rows) {
    const Index end = range.first + range.count;
    for (Index column = 0; column < s.columns; column += columns_each)
      for (Index row = range.first; row < end; row += rows_each)
        pieces.push_back({range.n, row, std::min(rows_each, end - row), column,
                          std::min(columns_each, s.columns - column)});
  }
  return pieces;
}

GpuJob linear_job(const LinearSizes& sizes, const MatrixProductTile& tile, const LinearPiece& piece) {
  return {.kind = "matrix_product",
          .variant = fmt::format("{} {} {} {}", tile.rows, tile.columns, tile.ragged, tile.loads_ahead),
          .units = tiles(piece.rows, tile.rows) * tiles(piece.columns, tile.columns),
          .steps = (sizes.depth + depth_of_step - 1) / depth_of_step,
          .work = static_cast<double>(64 * tile.rows * 64 * tile.columns * depth_of_step)};
}

}  // namespace headwise
