// Masks that are too large to be made here: only their arithmetic.
#include "core/gpu/gpu_masks.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace headwise;

namespace {

constexpr Index gib = Index{1} << 30;
constexpr Index height = 128;  // queries of a work group

StoredAttnMask stored(Index batch_heads, Index queries, Index keys, bool boolean) {
  const Index cells = batch_heads * queries * keys, per_number = boolean ? 32 : 1;
  const bool each_head = batch_heads > 1;
  return {{each_head ? queries * keys : 0, each_head ? queries * keys : 0, keys, 1, keys},
          (cells + per_number - 1) / per_number,
          per_number};
}

// What shaders/masked_score.glsl makes of a cell, in its 32 bits.
std::uint32_t cell_of_shader(const AttnMaskView& view, Index n, Index head, Index query, Index key,
                             std::uint32_t base) {
  const auto word = [](Index value) { return static_cast<std::uint32_t>(value); };
  return word(n) * word(view.step_n) + word(head) * word(view.step_h) + word(query) * word(view.step_l) +
         word(key) * word(view.step_s) - base;
}

// Whether the shader finds the corners of these rows where they are bound,
// behind as many numbers as an alignment can add.
void check_counted(const StoredAttnMask& mask, const MaskRows& rows, const GpuLimits& limits) {
  const AttnMaskView& view = mask.view;
  const MaskPiece piece = mask_piece(mask, rows);
  CHECK(piece.first + piece.count <= mask.numbers);
  CHECK(4 * piece.count + limits.offset_alignment <= limits.storage_block_bytes);
  for (const Index before : {Index{0}, limits.offset_alignment / 4 - 1}) {
    const std::uint32_t base = mask_base(mask, piece, before);
    for (const Index head : {rows.first_head, rows.first_head + rows.heads - 1}) {
      for (const Index query : {rows.first_query, rows.first_query + rows.queries - 1}) {
        for (const Index key : {Index{0}, view.keys - 1}) {
          const Index cell =
              rows.n * view.step_n + head * view.step_h + query * view.step_l + key * view.step_s;
          CHECK(cell_of_shader(view, rows.n, head, query, key, base) ==
                cell - (piece.first - before) * mask.cells_per_number);
          CHECK(cell / mask.cells_per_number - piece.first < piece.count);
        }
      }
    }
  }
}

// All dispatches that read the mask, cut as core/gpu/gpu_attention.cpp cuts them.
Index check_pieces(const StoredAttnMask& mask, Index heads, Index queries, const GpuLimits& limits) {
  const std::optional<Index> rows = mask_rows_at_once(mask, queries, limits);
  const Index each = rows ? std::max(*rows / height * height, height) : queries;
  const Index heads_each = rows ? 1 : heads;
  Index pieces = 0;
  for (Index head = 0; head < heads; head += heads_each)
    for (Index query = 0; query < queries; query += each, ++pieces)
      check_counted(mask, {0, head, heads_each, query, std::min(each, queries - query)}, limits);
  return pieces;
}

}  // namespace

TEST_CASE("a boolean mask of 2^32 cells and more is bound in pieces whose cells 32 bits can count") {
  for (const Index alignment : {16, 256}) {
    for (const Index block : {gib / 8, gib, 2 * gib - alignment, 16 * gib}) {
      const GpuLimits limits{.storage_block_bytes = block, .offset_alignment = alignment};
      for (const Index queries : {65535, 65536, 65537, 100'000, 262'144}) {
        for (const Index heads : {1, 3}) {
          for (const Index keys : {queries, queries + 77}) {
            CAPTURE(alignment);
            CAPTURE(block);
            CAPTURE(queries);
            CAPTURE(keys);
            CAPTURE(heads);
            const StoredAttnMask mask = stored(heads, queries, keys, true);
            const Index pieces = check_pieces(mask, heads, queries, limits);
            // No smaller pieces than it takes.
            const Index most = most_mask_cells(32, limits);
            CHECK(most > (Index{1} << 29));
            CHECK(pieces <= heads * (queries * keys / (most - height * keys) + 1));
          }
        }
      }
    }
  }
}

TEST_CASE("a mask of fewer cells is bound whole, up to the last that can be counted") {
  const GpuLimits limits{.storage_block_bytes = 2 * gib - 256, .offset_alignment = 256};
  CHECK_FALSE(mask_rows_at_once(stored(1, 65536, 65408, true), 65536, limits));
  CHECK(check_pieces(stored(1, 65536, 65408, true), 1, 65536, limits) == 1);
  CHECK(mask_rows_at_once(stored(1, 65536, 65536, true), 65536, limits) == 65535);
  // Floats fill the block long before.
  CHECK_FALSE(mask_rows_at_once(stored(1, 16384, 32000, false), 16384, limits));
  CHECK(check_pieces(stored(2, 16384, 32000, false), 2, 16384, limits) > 1);
}

TEST_CASE("a mask with one row for all queries is bound whole, head by head where there are too many heads") {
  const GpuLimits limits{.storage_block_bytes = 2 * gib - 256, .offset_alignment = 256};
  const Index keys = 50'000'000, heads = 100;
  const StoredAttnMask mask{{0, keys, 0, 1, keys}, (heads * keys + 31) / 32, 32};
  CHECK(mask_rows_at_once(mask, 1024, limits) == 1024);
  CHECK(check_pieces(mask, heads, 1024, limits) == heads);
}
