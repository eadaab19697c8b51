// What is drawn of a head's map: cells, or blocks of them.
#include <fmt/format.h>

#include <algorithm>

#include "app/panels/full_size_maps.h"

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

const std::string& label_of(const std::vector<std::string>& labels, Index i) {
  static const std::string none;
  return i < static_cast<Index>(labels.size()) ? labels[static_cast<std::size_t>(i)] : none;
}

std::string range_text(const CellRange& range) {
  return range.size() == 1 ? fmt::format("{}", range.first)
                           : fmt::format("{} … {}", range.first, range.last - 1);
}

}  // namespace

MapPart map_part(const FullSizeResult& result, Index head, CellRange rows, CellRange cols,
                 BlockStatistic statistic, double pixels, Theme theme) {
  MapPart part{head, rows, cols, 1, {}};
  part.spec.theme = theme;
  part.spec.color_map = ColorMap::viridis;
  const double cells_per_pixel =
      static_cast<double>(std::max(rows.size(), cols.size())) / std::max(pixels, 1.0);
  if (cells_per_pixel <= 1.0 || std::max(rows.size(), cols.size()) <= most_exact_cells) {
    Tensor cells({{"L", rows.size()}, {"S", cols.size()}}, DType::f32);
    result.tiles->tile(0, head, rows, cols, cells.values<float>().data());
    part.spec.values = matrix_view(std::make_shared<const Tensor>(std::move(cells)));
    return part;
  }
  const std::vector<PyramidLevel>& levels = result.pyramid->levels(0, head);
  std::size_t i = 0;  // as coarse as still has a block for every pixel
  while (i + 1 < levels.size() && static_cast<double>(levels[i + 1].block) <= cells_per_pixel) ++i;
  const PyramidLevel& level = levels[i];
  part.block = level.block;
  const CellRange block_rows{rows.first / level.block, whole_parts(rows.last, level.block)};
  const CellRange block_cols{cols.first / level.block, whole_parts(cols.last, level.block)};
  const AttentionSizes& s = result.tiles->sizes();
  part.rows = {block_rows.first * level.block, std::min(block_rows.last * level.block, s.queries)};
  part.cols = {block_cols.first * level.block, std::min(block_cols.last * level.block, s.all_keys)};
  Tensor blocks({{"L", block_rows.size()}, {"S", block_cols.size()}}, DType::f32);
  auto to = blocks.values<float>().begin();
  const std::vector<float>& numbers = numbers_of(level, statistic);
  for (Index r = block_rows.first; r < block_rows.last; ++r)
    to = std::copy_n(numbers.begin() + r * level.cols + block_cols.first, block_cols.size(), to);
  part.spec.values = matrix_view(std::make_shared<const Tensor>(std::move(blocks)));
  return part;
}

std::string map_cell_text(const FullSizeResult& result, const MapPart& part, Index row, Index col) {
  const double value = part.spec.values.value(row, col);
  const CellRange rows{part.rows.first + row * part.block,
                       std::min(part.rows.first + (row + 1) * part.block, part.rows.last)};
  const CellRange cols{part.cols.first + col * part.block,
                       std::min(part.cols.first + (col + 1) * part.block, part.cols.last)};
  if (part.block > 1)
    return fmt::format("head {}: queries {} → keys {}: {:.3g}", part.head, range_text(rows), range_text(cols),
                       value);
  return fmt::format("head {}: {} (query {}) → {} (key {}): {:.4g}", part.head,
                     label_of(result.inputs.labels.query, rows.first), rows.first,
                     label_of(result.inputs.labels.key, cols.first), cols.first, value);
}

}  // namespace headwise
