#include "core/gpu/attn_mask_pieces.h"

#include <algorithm>

namespace headwise {
namespace {

constexpr Index counted_cells = Index{1} << 32;

}  // namespace

Index most_mask_cells(Index cells_per_number, const GpuLimits& limits) {
  // A piece begins and ends within a number, and less than an alignment after the beginning of what is bound.
  const Index bound = (limits.storage_block_bytes - limits.offset_alignment) / 4;
  const Index ends = cells_per_number > 1 ? 2 : 0;
  return std::min(cells_per_number * (bound - ends),
                  counted_cells - cells_per_number * (limits.offset_alignment / 4 + ends));
}

std::optional<Index> mask_rows_at_once(const StoredAttnMask& mask, Index queries, const GpuLimits& limits) {
  const Index most = most_mask_cells(mask.cells_per_number, limits);
  if (mask.numbers * mask.cells_per_number <= most) return std::nullopt;
  if (mask.view.step_l == 0) return queries;
  return std::clamp<Index>(most / mask.view.step_l, 1, queries);
}

MaskPiece mask_piece(const StoredAttnMask& mask, const MaskRows& rows) {
  const AttnMaskView& view = mask.view;
  const Index first = rows.n * view.step_n + rows.first_head * view.step_h + rows.first_query * view.step_l;
  const Index last = first + (rows.heads - 1) * view.step_h + (rows.queries - 1) * view.step_l +
                     (view.keys - 1) * view.step_s;
  const Index begin = first / mask.cells_per_number;
  return {begin, last / mask.cells_per_number + 1 - begin};
}

std::uint32_t mask_base(const StoredAttnMask& mask, const MaskPiece& piece, Index before) {
  return static_cast<std::uint32_t>((piece.first - before) * mask.cells_per_number);
}

}  // namespace headwise
