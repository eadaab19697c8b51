// Keys and values of a run of the fused backend, as attention reads them, and how they get there when they are no
// projections of this run.
#pragma once

#include <atomic>

#include "core/fused/fused_layout.h"
#include "core/tensor/task_threads.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

class FusedKeys {
 public:
  // All must outlive this. With `asks_finite`, what is put in is searched for NaN and infinities.
  FusedKeys(const FusedKernels& kernels, const AttentionSizes& sizes, bool asks_finite)
      : k(sizes.batch, sizes.kv_heads, sizes.all_keys, sizes.head_dim),
        v(sizes.batch, sizes.kv_heads, sizes.all_keys, sizes.v_head_dim),
        kernels_(kernels),
        sizes_(sizes),
        asks_finite_(asks_finite) {}

  HeadPanels k;
  HeadRows v;
  // False once a NaN or an infinity was found: then no key may be left out that a mask blocks.
  std::atomic<bool> finite{true};
  void note(bool is_finite) {
    if (!is_finite) finite.store(false, std::memory_order_relaxed);
  }

  // Values that are read where they stand may be searched by those who read them: searching them first would bring all of them
  // from memory once more.
  enum class Search { now, later };
  bool values_unsearched() const { return values_unsearched_; }

  // Tasks that fill k and v; the tensors, f32, must outlive them and this: values may be read where they stand.
  TaskPhase given_keys(const Tensor& heads);                   // (N,G,S,D)
  TaskPhase given_values(const Tensor& heads, Search search);  // (N,G,S,Dv)
  TaskPhase kept_keys(const Tensor& rows_before);              // k (N,S′,G·D) of the run before
  TaskPhase kept_values(const Tensor& rows_before);            // v (N,S′,G·Dv) of the run before

  // The given keys (N,G,S,D) of one of the N·G heads, or a panel of them.
  void put_keys(const Tensor& heads, Index head);
  void put_keys(const Tensor& heads, Index head, Index panel);

  // The rows behind the given ones of batch n: bias_k (G·D) and bias_v (G·Dv), where they are not null, and a row of zeros.
  void append(Index n, const float* bias_k, const float* bias_v);

 private:
  const FusedKernels& kernels_;
  const AttentionSizes& sizes_;
  const bool asks_finite_;
  bool values_unsearched_ = false;
};

}  // namespace headwise
