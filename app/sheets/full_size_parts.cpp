// The part of a head's map that is drawn: cells, or blocks of them.
#include <fmt/format.h>

#include <algorithm>

#include "app/sheets/full_size_maps.h"

namespace headwise {
namespace {

const std::vector<float>& numbers_of(const PyramidLevel& level, BlockStatistic statistic) {
  switch (statistic) {
    case BlockStatistic::largest:
      return level.max;
    case BlockStatistic::mean:
      return level.mean;
    case BlockStatistic::least:
      break;
  }
  return level.min;
}

std::string range_text(const CellRange& range) {
  return range.size() == 1 ? fmt::format("{}", range.first)
                           : fmt::format("{} … {}", range.first, range.last - 1);
}

bool holds(const CellRange& range, Index i) {
  return range.first <= i && i < range.last;
}

CellRange block_around(Index i, Index block, Index count) {
  return {i / block * block, std::min((i / block + 1) * block, count)};
}

// The block size to request; the finest stored, if that is small enough.
Index finer_block(Index stored, Index head, CellRange rows, CellRange cols, double cells_per_pixel) {
  if (static_cast<double>(stored) <= most_pixels_of_block * cells_per_pixel) return stored;
  Index block = 1;
  while (2.0 * static_cast<double>(block) <= cells_per_pixel) block *= 2;
  while (block < stored && !FinerMaps::fits({head, block, rows, cols})) block *= 2;
  return block;
}

// The part widened to whole blocks, each with the number of the best available block: its own, or a larger one.
void fill_blocks(MapPart& part, const FullSizeResult& result, Index block, BlockStatistic statistic,
                 const std::vector<FinerPiece>& pieces) {
  const AttentionSizes& s = result.tiles->sizes();
  const CellRange down{part.rows.first / block, whole_parts(part.rows.last, block)};
  const CellRange right{part.cols.first / block, whole_parts(part.cols.last, block)};
  part.block = block;
  part.rows = {down.first * block, std::min(down.last * block, s.queries)};
  part.cols = {right.first * block, std::min(right.last * block, s.all_keys)};
  Tensor blocks({{"L", down.size()}, {"S", right.size()}}, DType::f32);
  const auto out = blocks.values<float>().begin();
  for (const FinerPiece& piece : pieces) {
    const PyramidLevel& level = piece.blocks ? *piece.blocks : result.pyramid->levels(0, part.head).front();
    if (level.block > block) part.coarse.push_back({piece.rows, piece.cols, level.block});
    const std::vector<float>& numbers = numbers_of(level, statistic);
    const Index last_row = std::min(whole_parts(piece.rows.last, block), down.last);
    const Index last_col = std::min(whole_parts(piece.cols.last, block), right.last);
    for (Index r = std::max(piece.rows.first / block, down.first); r < last_row; ++r) {
      const auto from = numbers.begin() + (r * block - piece.first_row) / level.block * level.cols;
      const auto to = out + (r - down.first) * right.size() - right.first;
      for (Index c = std::max(piece.cols.first / block, right.first); c < last_col; ++c)
        to[c] = from[(c * block - piece.first_col) / level.block];
    }
  }
  part.spec.values = matrix_view(std::make_shared<const Tensor>(std::move(blocks)));
}

}  // namespace

const std::string& label_of(const std::vector<std::string>& labels, Index i) {
  static const std::string none;
  return i < static_cast<Index>(labels.size()) ? labels[static_cast<std::size_t>(i)] : none;
}

MapPart map_part(const FullSizeResult& result, Index head, CellRange rows, CellRange cols,
                 BlockStatistic statistic, double pixels, Theme theme, FinerMaps* finer) {
  MapPart part{head, rows, cols, 1, {}, {}};
  part.spec.theme = theme;
  part.spec.color_map = ColorMap::viridis;
  const Index side = std::max(rows.size(), cols.size());
  const double cells_per_pixel = static_cast<double>(side) / std::max(pixels, 1.0);
  if (side <= most_exact_cells) {
    Tensor cells({{"L", rows.size()}, {"S", cols.size()}}, DType::f32);
    result.tiles->tile(0, head, rows, cols, cells.values<float>().data());
    part.spec.values = matrix_view(std::make_shared<const Tensor>(std::move(cells)));
    return part;
  }
  const std::vector<PyramidLevel>& levels = result.pyramid->levels(0, head);
  if (finer) {
    const Index block = finer_block(levels.front().block, head, rows, cols, cells_per_pixel);
    if (block < levels.front().block) {
      const std::vector<FinerPiece> pieces = finer->look({head, block, rows, cols});
      if (!pieces.empty()) {
        fill_blocks(part, result, block, statistic, pieces);
        return part;
      }
    }
    finer->look_away();
  }
  std::size_t i = 0;  // the coarsest that still has a block for every pixel
  while (i + 1 < levels.size() && static_cast<double>(levels[i + 1].block) <= cells_per_pixel) ++i;
  const std::shared_ptr<const PyramidLevel> kept(std::shared_ptr<void>(), &levels[i]);  // the result's
  fill_blocks(part, result, levels[i].block, statistic, {{rows, cols, kept}});
  return part;
}

std::string map_cell_text(const FullSizeResult& result, const MapPart& part, Index row, Index col) {
  const double value = part.spec.values.value(row, col);
  CellRange rows{part.rows.first + row * part.block,
                 std::min(part.rows.first + (row + 1) * part.block, part.rows.last)};
  CellRange cols{part.cols.first + col * part.block,
                 std::min(part.cols.first + (col + 1) * part.block, part.cols.last)};
  bool is_block = part.block > 1;
  const AttentionSizes& s = result.tiles->sizes();
  for (const CoarseCells& coarse : part.coarse) {
    if (!holds(coarse.rows, rows.first) || !holds(coarse.cols, cols.first)) continue;
    rows = block_around(rows.first, coarse.block, s.queries);
    cols = block_around(cols.first, coarse.block, s.all_keys);
    is_block = true;
  }
  if (is_block)
    return fmt::format("head {}: queries {} → keys {}: {:.3g}", part.head, range_text(rows), range_text(cols),
                       value);
  return fmt::format("head {}: {} (query {}) → {} (key {}): {:.4g}", part.head,
                     label_of(result.inputs.labels.query, rows.first), rows.first,
                     label_of(result.inputs.labels.key, cols.first), cols.first, value);
}

}  // namespace headwise
