// Keys and values of a run of the fused backend, as attention reads them, and how they are stored if they are
// not projections of this run.
#pragma once

#include <atomic>

#include "core/fused/fused_layout.h"
#include "core/tensor/task_threads.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

class FusedKeys {
 public:
  // All must outlive this. With `asks_finite`, everything stored is checked for NaN and infinities.
  FusedKeys(const FusedKernels& kernels, const AttentionSizes& sizes, bool asks_finite)
      : k(sizes.batch, sizes.kv_heads, sizes.all_keys, sizes.head_dim),
        v(sizes.batch, sizes.kv_heads, sizes.all_keys, sizes.v_head_dim),
        kernels_(kernels),
        sizes_(sizes),
        asks_finite_(asks_finite) {}

  HeadPanels k;
  HeadRows v;
  // False once a NaN or an infinity was found: then masked keys may not be skipped.
  std::atomic<bool> finite{true};
  void note(bool is_finite) {
    if (!is_finite) finite.store(false, std::memory_order_relaxed);
  }

  // Values that are read in place may be checked by their readers: checking them first would fetch all of
  // them from memory once more.
  enum class Search { now, later };
  bool values_unsearched() const { return values_unsearched_; }

  // Tasks that fill k and v; the tensors, f32, must outlive them and this: values may be read in place.
  TaskPhase given_keys(const Tensor& heads);                   // (N,G,S,D)
  TaskPhase given_values(const Tensor& heads, Search search);  // (N,G,S,Dv)
  TaskPhase kept_keys(const Tensor& rows_before);              // k (N,S′,G·D) of the previous run
  TaskPhase kept_values(const Tensor& rows_before);            // v (N,S′,G·Dv) of the previous run

  // The given keys (N,G,S,D) of one of the N·G heads, or of one of its panels.
  void put_keys(const Tensor& heads, Index head);
  void put_keys(const Tensor& heads, Index head, Index panel);

  // The rows after the given ones of batch n: bias_k (G·D) and bias_v (G·Dv), if not null,
  // and a row of zeros.
  void append(Index n, const float* bias_k, const float* bias_v);

 private:
  const FusedKernels& kernels_;
  const AttentionSizes& sizes_;
  const bool asks_finite_;
  bool values_unsearched_ = false;
};

}  // namespace headwise
