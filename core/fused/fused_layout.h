// Where the fused backend stores numbers between two products.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/fused/kernels.h"
#include "core/tensor/task_threads.h"
#include "core/tensor/tensor.h"

namespace headwise {

// What a row's maximum begins with (FusedSoftmax) where there is a sink, its sum being 1 then: as if a strip
// before the first had had the sink as its only score.
inline float sink_maximum(double sink) {
  constexpr double most = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(sink * std::numbers::log2e, -most, most));
}

// Uninitialised floats, aligned to 64 bytes; throws Error(memory) before allocating what is not available.
class FusedBuffer {
 public:
  FusedBuffer() = default;
  explicit FusedBuffer(Index size);
  float* at(Index offset) { return data_.get() + offset; }
  const float* at(Index offset) const { return data_.get() + offset; }
  Index size() const { return size_; }

 private:
  struct Free {
    void operator()(float* data) const;
  };
  std::unique_ptr<float, Free> data_;
  Index size_ = 0;
};

// Scratch memory of each worker, allocated for its first task.
class FusedScratch {
 public:
  FusedScratch(int threads, Index size) : size_(size), buffers_(static_cast<std::size_t>(threads)) {}
  float* of(int worker) {
    FusedBuffer& own = buffers_[static_cast<std::size_t>(worker)];
    if (own.size() == 0) own = FusedBuffer(size_);
    return own.at(0);
  }

 private:
  Index size_;
  std::vector<FusedBuffer> buffers_;
};

constexpr Index whole_parts(Index size, Index part) {
  return (size + part - 1) / part;
}

// (N, tokens, width) as panels: for each batch ⌈tokens/64⌉ of [width][64], `step` from one to the next. Lanes
// beyond the last token hold finite, meaningless numbers.
struct Panels {
  Panels() = default;
  Panels(Index batch, Index token_count, Index feature_count);

  float* panel(Index n, Index p) { return data.at((n * count + p) * step); }
  const float* panel(Index n, Index p) const { return data.at((n * count + p) * step); }
  Index tokens_of(Index p) const;  // in this panel

  Index batch = 0, tokens = 0, count = 0, width = 0, step = 0;  // count: panels of a batch
  FusedBuffer data;
};

// Numbers of heads (N, heads, tokens, width) as panels: for each batch and head ⌈tokens/64⌉ of [width][64].
struct HeadPanels {
  HeadPanels(Index batch, Index head_count, Index token_count, Index feature_count);

  float* panel(Index n, Index g, Index p) { return data.at(((n * heads + g) * count + p) * size); }
  const float* panel(Index n, Index g, Index p) const {
    return data.at(((n * heads + g) * count + p) * size);
  }

  Index heads = 0, tokens = 0, count = 0, width = 0, size = 0;  // count: panels of a head; size: of one
  FusedBuffer data;
};

// Numbers of heads (N, heads, tokens, width) as rows, each padded with zeros to whole vectors:
// stored here, or read in place.
struct HeadRows {
  HeadRows() = default;
  HeadRows(Index batch, Index head_count, Index token_count, Index feature_count);

  // Rows of `width` numbers without padding, which these are if width = step, are read in place.
  void read_in_place(const float* rows) {
    in_place = rows;
    data = {};
  }

  float* row(Index n, Index g, Index token) { return data.at(((n * heads + g) * tokens + token) * step); }
  const float* row(Index n, Index g, Index token) const {
    return (in_place ? in_place : data.at(0)) + ((n * heads + g) * tokens + token) * step;
  }

  Index heads = 0, tokens = 0, width = 0, step = 0;  // step: from one token to the next
  const float* in_place = nullptr;
  FusedBuffer data;
};

// Row-major tokens of `width` numbers, `stride` from one to the next, into `count` ≤ 64 lanes of a panel; the
// lanes after them become 0.
void fill_panel(const FusedKernels& kernels, const float* tokens, Index count, Index stride, Index width,
                float* panel);

// Keys and values of a run of the fused backend, as attention reads them, and how they are stored if they are
// not projections of this run.

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
