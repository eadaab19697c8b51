// The piece of an attn_mask that one dispatch binds: shaders count its cells in 32 bits.
#pragma once

#include <cstdint>
#include <optional>

#include "core/attention/attention_mask.h"
#include "core/gpu/gpu_limits.h"

namespace headwise {

// An attn_mask in GPU memory, in 32-bit numbers.
struct StoredAttnMask {
  AttnMaskView view;
  Index numbers = 0;
  Index cells_per_number = 1;  // 32 if it is boolean
};

// The most cells that a piece may have, wherever it begins: the numbers bound before it count too.
Index most_mask_cells(Index cells_per_number, const GpuLimits& limits);

// Queries of one head whose rows a shader can bind and count at once; nullopt if that is true of the whole mask.
std::optional<Index> mask_rows_at_once(const StoredAttnMask& mask, Index queries, const GpuLimits& limits);

// Scores of some queries of some heads of batch n.
struct MaskRows {
  Index n = 0, first_head = 0, heads = 0, first_query = 0, queries = 0;
};

// The numbers that hold the cells of these rows.
struct MaskPiece {
  Index first = 0, count = 0;
};
MaskPiece mask_piece(const StoredAttnMask& mask, const MaskRows& rows);

// What a shader subtracts from the index of a cell to find it in what is bound, if `before` numbers are bound before the piece: modulo
// 2³², like its counters.
std::uint32_t mask_base(const StoredAttnMask& mask, const MaskPiece& piece, Index before);

}  // namespace headwise
