// Scaled dot-product attention on the GPU, and recomputed tiles of its weights.
#pragma once

#include <vector>

#include "core/gpu/attention_plan.h"
#include "core/gpu/gpu_masks.h"
#include "core/gpu/gpu_programs.h"
#include "core/gpu/gpu_work.h"

namespace headwise {

// Buffers must live until the work is done.
struct GpuAttention {
  AttentionSizes sizes;
  const GpuMasks* masks = nullptr;
  std::vector<HeadRange> computed;            // the heads that are not frozen
  const StorageBuffer* q = nullptr;           // (N,H,L,D)
  const StorageBuffer* k = nullptr;           // (N,G,S′,D)
  const StorageBuffer* v = nullptr;           // (N,G,S′,Dv)
  const StorageBuffer* statistics = nullptr;  // (N,H,L,2): largest score and Σexp of each row
  const StorageBuffer* out = nullptr;         // head_output
  HeadOutputStrides out_strides;
  std::optional<PositionReach> reach = {};  // nullopt: a query may see every key, as far as positions go
};

// A sentence saying why another backend must compute heads of these widths; empty if this one can.
std::string gpu_attention_refusal(const AttentionSizes& sizes, const GpuLimits& limits);

// Adds the jobs: whether k and v are finite, which allows masked keys to be skipped; and,
// after a barrier, the attention.
void add_attention(GpuWork& work, GpuPrograms& programs, const GpuAttention& attention);

// attn_weights of batch n, head h, queries [first, first + rows), all keys, into `tile` (rows, S′). The jobs
// of add_attention must be done.
void attention_weights_rows(GpuPrograms& programs, const GpuAttention& attention, Index n, Index h,
                            Index first, Index rows, const StorageBuffer& tile);

// Frozen heads on the GPU: their attention weights are given instead of computed.

struct GpuFrozenWeights {
  StorageBuffer weights;     // (N,F,L,S′)
  std::vector<Index> heads;  // F of them
};

// Adds the jobs that write head_output of the frozen heads to the output of `attention`. Masks do not apply
// to them. Both must live until the work is done.
void add_frozen_weights(GpuWork& work, GpuPrograms& programs, const GpuAttention& attention,
                        const GpuFrozenWeights& held);

}  // namespace headwise
