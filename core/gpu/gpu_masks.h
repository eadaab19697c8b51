// The masks of one attention, the dropout and the scaling of scores, in the form that
// shaders/masked_score.glsl and dropout.glsl need: nothing of size L × S unless it was given.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/gpu/attention_plan.h"
#include "core/gpu/compute_program.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/storage_buffer.h"

namespace headwise {

// The piece of an attn_mask that one dispatch binds: shaders count its cells in 32 bits.

// An attn_mask in GPU memory, in 32-bit numbers.
struct StoredAttnMask {
  AttnMaskView view;
  Index numbers = 0;
  Index cells_per_number = 1;  // 32 if it is boolean
};

// The most cells that a piece may have, wherever it begins: the numbers bound before it count too.
Index most_mask_cells(Index cells_per_number, const GpuLimits& limits);

// Queries of one head whose rows a shader can bind and count at once;
// nullopt if that is true of the whole mask.
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

// What a shader subtracts from the index of a cell to find it in what is bound, if `before` numbers are bound
// before the piece: modulo 2³², like its counters.
std::uint32_t mask_base(const StoredAttnMask& mask, const MaskPiece& piece, Index before);

class GpuMasks {
 public:
  // Uploads what is given. The shapes of the masks must already have been checked. Throws Error(memory).
  // `sinks`: one a head, or none.
  GpuMasks(const AttentionOptions& options, const GivenMasks& given, const std::vector<double>& sinks,
           const AttentionSizes& sizes);

  // A sentence saying why another backend must compute these masks; empty if this one can.
  static std::string refusal(const GivenMasks& given, const GpuLimits& limits);

  // Queries of one head whose rows of attn_mask a shader can bind at once; nullopt if it can bind the whole
  // mask.
  std::optional<Index> rows_at_once(const GpuLimits& limits) const;

  ScoreNeeds needs() const { return needs_; }
  // [0] is for the shader all_finite; followed by the bits of blocked().
  const StorageBuffer& skips() const { return skips_; }
  const BlockedBlocks& blocked() const { return blocked_; }

  std::vector<const StorageBuffer*> buffers() const;

  // Uniforms and bindings 5, 6 and 7 of the program in use, which only reads these rows of scores; those of
  // dropout if the program drops.
  using Rows = MaskRows;
  void set(const ComputeProgram& program, Index alignment, const Rows& rows) const;

 private:
  StoredAttnMask stored() const;
  void put_attn_mask(const Tensor& mask);
  void bind_attn_mask(const ComputeProgram& program, Index alignment, const Rows& rows) const;
  void find_blocked(Index batch, Index heads);

  AttentionOptions options_;
  AttentionSizes sizes_;
  ScoreNeeds needs_;
  StorageBuffer attn_mask_, data_, skips_;
  std::vector<std::uint32_t> bits_;  // of a boolean attn_mask
  std::uint32_t attn_mask_kind_ = 0;
  AttnMaskView view_;
  int padding_at_ = -1, valid_lens_at_ = -1, slopes_at_ = -1, relative_at_ = -1, sinks_at_ = -1;
  Index relative_reach_ = 0;
  bool valid_lens_per_query_ = false;
  std::vector<Index> offsets_;  // of each batch entry: the key at the position of query 0
  BlockedBlocks blocked_;
};

}  // namespace headwise
