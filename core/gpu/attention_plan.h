// How scaled dot-product attention is cut into jobs for the GPU: a function of sizes and limits, without OpenGL.
#pragma once

#include <optional>
#include <vector>

#include "core/attention/frozen_heads.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/gpu_work.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

// Of shaders/scaled_dot_product_attention.comp.
struct AttentionTile {
  Index rows = 1;     // vec4s of query rows per thread: 64·rows queries per work group
  Index columns = 1;  // vec4s of value columns per thread
  bool ragged = false, masked = false;
};

// Where a number of head_output stands: strides from a query, a head and a batch entry to the next.
struct HeadOutputStrides {
  Index query = 0, head = 0, batch = 0;
};

// The keys that a query may see by its position alone: the shader skips the others. In sizes without appended columns.
struct PositionReach {
  bool causal = false;
  Index window = 0;  // 0: none
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

// The largest tile that is worthwhile for this many queries, fits in the shared memory and still makes two work groups for each of so
// many processors; 0: their number is unknown. v_head_dim ≤ 256. Any number of rows gives the same bits.
AttentionTile attention_tile(const AttentionSizes& sizes, bool masked, const GpuLimits& limits,
                             double processors);

// Keys of one key/value head that can be bound together, in whole blocks.
Index attention_keys_at_once(const AttentionSizes& sizes, const GpuLimits& limits);

// `mask_rows`: queries of one head whose rows of attn_mask can be bound together; nullopt: all of them.
AttentionPlan plan_attention(const AttentionSizes& sizes, const std::vector<HeadRange>& heads,
                             const HeadOutputStrides& strides, std::optional<Index> mask_rows,
                             const GpuLimits& limits, const AttentionTile& tile);

// A unit is a work group: a block of queries of one head, the last block of the first head first. A step is a block of keys. Without its
// dispatch.
GpuJob attention_job(const AttentionSizes& sizes, const AttentionTile& tile, const AttentionPlan& plan,
                     const AttentionPiece& piece, const std::optional<PositionReach>& reach);

}  // namespace headwise
