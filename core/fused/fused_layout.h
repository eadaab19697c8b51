// Where the fused backend stores numbers between two products.
#pragma once

#include <memory>

#include "core/fused/kernels.h"
#include "core/tensor/tensor.h"

namespace headwise {

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

}  // namespace headwise
