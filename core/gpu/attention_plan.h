// How scaled dot-product attention is cut into jobs for the GPU: a function of sizes and limits,
// without OpenGL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/softmax.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_work.h"
#include "core/tensor/shape.h"

namespace headwise {

// The blocks of 64 × 64 scores that a given mask rules out, and that
// shaders/scaled_dot_product_attention.comp therefore skips.

constexpr Index mask_block = 64;  // queries and keys of a block

struct BlockedBlocks {
  std::vector<std::uint32_t> bits = {};  // a bit each, 1: ruled out; empty: none is
  // From the bit of a block to that of the next batch, head and row of blocks; 0 where they share one. The
  // next block of keys has the next bit.
  Index batch_step = 0, head_step = 0, row_step = 0;

  // How many of key blocks [first, end) are ruled out for all of rows [row, row + rows) of blocks,
  // of batch n and head h.
  Index count(Index n, Index h, Index row, Index rows, Index first, Index end) const;
};

// What scores, and weights, need besides their scale.
struct ScoreNeeds {
  bool masks = false, cap = false, dropout = false;
};

// Of shaders/scaled_dot_product_attention.comp.
struct AttentionTile {
  Index rows = 1;     // vec4s of query rows per thread: 64·rows queries per work group
  Index columns = 1;  // vec4s of value columns per thread
  bool ragged = false, loads_ahead = false;
  ScoreNeeds needs = {};
};

// Where a number of head_output stands: strides from a query, a head and a batch entry to the next.
struct HeadOutputStrides {
  Index query = 0, head = 0, batch = 0;
};

// The keys that a query may see by its position alone: the shader skips the others.
// In sizes without appended columns.
struct PositionReach {
  PositionWindow seen = {};
  Index offset = 0;  // key i + offset is at the position of query i
};

// Some blocks of queries of some heads whose arrays can be bound together.
struct AttentionPiece {
  Index n, first_head, heads, first_query, queries;
};

struct AttentionPlan {
  std::vector<AttentionPiece> pieces;
  Index most_key_blocks = 0;  // that can be bound together; 0: all
};

constexpr Index attention_key_block = 64;        // BLOCK_S of the shader
constexpr Index attention_strip_depth = 16;      // its DEPTH
constexpr Index largest_attention_height = 128;  // maximum number of queries of a work group
Index attention_value_rows(Index columns);       // its V_ROWS

// Whether such a tile may be chosen: its strips fit in the shared memory, and its sums in registers.
bool attention_tile_fits(Index rows, Index columns, const GpuLimits& limits);

// As limits.tiles says; where that is a large one, only if it fits in the shared memory, there are at least
// 128 queries (on software 512: it takes a second longer to compile) and it still makes two work groups for
// each of so many processors; 0: their number is unknown. v_head_dim ≤ 256. Any tile gives the same bits,
// unless a product of q and k overflows that a mask rules out:
// a large tile may look at it where small ones skip its block.
AttentionTile attention_tile(const AttentionSizes& sizes, const ScoreNeeds& needs, const GpuLimits& limits,
                             double processors);

// What is defined where the tile's shader is compiled, beside its sizes.
std::vector<std::string> shader_macros(const AttentionTile& tile);
// The words of GpuJob::variant that tell how a tile is compiled: "2x1 ragged masked".
std::string variant_of(const AttentionTile& tile);

// Keys of one key/value head that can be bound together, in whole blocks.
Index attention_keys_at_once(const AttentionSizes& sizes, const GpuLimits& limits);

// `mask_rows`: queries of one head whose rows of attn_mask can be bound together; nullopt: all of them.
AttentionPlan plan_attention(const AttentionSizes& sizes, const std::vector<HeadRange>& heads,
                             const HeadOutputStrides& strides, std::optional<Index> mask_rows,
                             const GpuLimits& limits, const AttentionTile& tile);

// What of the scores the shader skips, unless k or v hold a number that is not finite.
struct SkippedScores {
  std::optional<PositionReach> reach = {};  // nullopt: a query may see every key, as far as positions go
  const BlockedBlocks* blocked = nullptr;   // by a given mask; null: none. Must live as long as the job
};

// A unit is a work group: a block of queries of one head, the last block of the first head first. A step is a
// block of keys. Without its dispatch.
GpuJob attention_job(const AttentionSizes& sizes, const AttentionTile& tile, const AttentionPlan& plan,
                     const AttentionPiece& piece, const SkippedScores& skipped);

}  // namespace headwise
