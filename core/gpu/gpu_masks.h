// The masks of one attention, the dropout and how scores are scaled, as shaders/masked_score.glsl and dropout.glsl want
// them: nothing of the size L × S that was not given.
#pragma once

#include <optional>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/gpu/compute_program.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/storage_buffer.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

class GpuMasks {
 public:
  // Puts on the GPU what is given. The masks' shapes must have been checked. Throws Error(memory).
  GpuMasks(const AttentionOptions& options, const GivenMasks& given, const AttentionSizes& sizes);

  // Why these masks are another backend's, a sentence; empty where they can be done.
  static std::string refusal(const GivenMasks& given, const GpuLimits& limits);

  // Queries of one head whose rows of attn_mask a shader may see at once; none where it may see all of the mask.
  std::optional<Index> rows_at_once(const GpuLimits& limits) const;

  // Whether scores need more than a scale: a mask, a softcap or dropout.
  bool any() const { return any_; }
  // [0] is for the shader all_finite; then a bit for each block of 64 × 64 cells that a given mask blocks.
  const StorageBuffer& skips() const { return skips_; }

  std::vector<const StorageBuffer*> buffers() const;

  // Uniforms and bindings 5, 6 and 7 of the program that is in use, which looks at these rows of scores only; those of dropout
  // where the program drops.
  struct Rows {
    Index n, first_head, heads, first_query, queries;
  };
  void set(const ComputeProgram& program, Index alignment, const Rows& rows) const;

 private:
  void put_attn_mask(const Tensor& mask);
  void bind_attn_mask(const ComputeProgram& program, Index alignment, const Rows& rows) const;
  void find_blocked();

  AttentionOptions options_;
  AttentionSizes sizes_;
  bool any_ = false;
  StorageBuffer attn_mask_, data_, skips_;
  std::vector<std::uint32_t> bits_;  // of a boolean attn_mask
  std::uint32_t attn_mask_kind_ = 0;
  AttnMaskView view_;
  int padding_at_ = -1, valid_lens_at_ = -1, slopes_at_ = -1;
  bool valid_lens_per_query_ = false;
  std::array<std::uint32_t, 4> block_step_{};
};

}  // namespace headwise
