// Scaled dot-product attention in one pass over the keys, a panel of queries at a time: scores never leave the caches.
// Exact where all keys of a panel fit at once, online softmax beyond (Milakov and Gimelshein 2018; FlashAttention, Dao
// et al. 2022).
#pragma once

#include "core/fused/fused_layout.h"
#include "core/fused/mask_strips.h"

namespace headwise {

// k and v of all batches and key/value heads, as the kernels want them: K (S′ rows, depth D) and Vᵀ (Dv rows, depth S′).
struct FusedKeys {
  std::vector<Blocks> keys, values;  // n·G + g
};

struct FusedAttention {
  const FusedKernels& kernels;
  const AttentionOptions& options;
  const MaskStrips* masks;  // null: none
  Index batch, queries, all_keys, heads, kv_heads, head_dim, v_head_dim;
  const FusedKeys& keys;
  const Panels& q;      // rows h·D …
  const float* gains;   // of the heads; null: all 1
  Panels& out;          // concat: rows h·Dv …, times the gain
  float* attn_weights;  // (N,H,L,S′), or null where nobody wants them
};

// Tasks that can be done in any order and at once: one for each batch, head and panel of queries. `scratch` is this
// worker's own, made by fused_attention_scratch.
Index fused_attention_tasks(const FusedAttention& attention);
struct FusedScratch {
  FusedBuffer scores, bias, sums;
};
FusedScratch fused_attention_scratch(const FusedAttention& attention);
void fused_attention_task(const FusedAttention& attention, Index task, FusedScratch& scratch);

}  // namespace headwise
