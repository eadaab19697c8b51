// Scaled dot-product attention in one pass over the keys, one panel of queries at a time: scores never leave
// the caches. Online softmax, one strip of keys at a time (Milakov and Gimelshein 2018; FlashAttention,
// Dao et al. 2022).
#pragma once

#include <atomic>
#include <span>

#include "core/fused/fused_layout.h"
#include "core/fused/row_masks.h"

namespace headwise {

// Frozen weights of a head: slice `slice` of (N,F,L,S′). Type f32 or f64.
struct FrozenHead {
  const Tensor* weights = nullptr;  // null: the head is not frozen
  Index slice = 0;
};

// Number d of query l in batch n and head h is at first[n·batch + h·head + l/64·panel + l%64·row + d·depth]:
// in panels (row 1, depth 64) or in rows (depth 1; row D if those of a head are contiguous,
// H·D if the heads of a token are).
struct QueriesAt {
  const float* first;
  Index batch, head, panel, row, depth;
};

struct FusedAttention {
  const FusedKernels& kernels;
  const AttentionOptions& options;
  float scale, cap;       // of a score: cap·tanh(score·scale/cap); cap 0: only scaled
  const RowMasks* masks;  // null: none
  Index batch, queries, all_keys, heads, kv_heads, head_dim, v_head_dim;
  QueriesAt q;
  const HeadPanels& k;  // (N,G,S′,D)
  const HeadRows& v;    // (N,G,S′,Dv)
  // Whether all of k and v are finite; read when a task begins.
  std::atomic<bool>& finite;
  // v was not checked for non-finite numbers: the tasks do so,
  // and if `finite` is false afterwards everything must be redone.
  bool searches_values;
  const float* gains;                  // per head; null: all 1
  std::span<const double> sinks;       // per head; empty: none
  std::span<const FrozenHead> frozen;  // per head; empty: none
  // Outputs; null if not requested.
  Panels* concat;       // (N,L,H·Dv)
  float* head_output;   // (N,H,L,Dv)
  float* attn_weights;  // (N,H,L,S′)
};

// Tasks that can be done in any order and in parallel: one per batch, head and panel of queries. The first
// ones are the longest. `scratch` belongs to the worker and has fused_attention_scratch floats.
Index fused_attention_tasks(const FusedAttention& attention);
// How many leading tasks compute the panels from `panel` on of batch n, for all heads.
Index fused_attention_tasks_until(const FusedAttention& attention, Index n, Index panel);
// The batch and the head of a task.
struct HeadPlace {
  Index n, h;
};
HeadPlace fused_attention_head(const FusedAttention& attention, Index task);
Index fused_attention_scratch(const FusedAttention& attention);

// Throws Error(cancelled) within some tens of microseconds.
void run_fused_attention_task(const FusedAttention& attention, Index task, float* scratch);

// The same panel of concat, from the head_output (N,H,L,Dv) of an earlier run.
void run_fused_concat_task(const FusedAttention& attention, const float* head_output, Index task);

}  // namespace headwise
