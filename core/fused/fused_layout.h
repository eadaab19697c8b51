// Where the fused backend keeps numbers between two products (core/fused/kernels.h says what panels and blocks are).
#pragma once

#include <memory>

#include "core/fused/kernels.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Uninitialised floats; throws Error(memory) before it takes what is not there.
class FusedBuffer {
 public:
  FusedBuffer() = default;
  explicit FusedBuffer(Index size);
  float* at(Index offset) { return data_.get() + offset; }
  const float* at(Index offset) const { return data_.get() + offset; }
  Index size() const { return size_; }

 private:
  std::unique_ptr<float[]> data_;
  Index size_ = 0;
};

// (N, tokens, rows) as panels: for each batch ⌈tokens/lanes⌉ panels of [padded rows][lanes]. Tokens beyond the last are
// lanes of zeros (or of whatever a product with zeros gives), rows beyond the last are there to be written.
struct Panels {
  Panels() = default;
  Panels(const FusedKernels& kernels, Index batch, Index tokens, Index rows);

  float* panel(Index n, Index p) { return data.at((n * count + p) * rows * lanes); }
  const float* panel(Index n, Index p) const { return data.at((n * count + p) * rows * lanes); }

  Index batch = 0, tokens = 0, count = 0;  // count: panels of a batch
  Index rows = 0, lanes = 0;               // rows: padded to whole blocks
  FusedBuffer data;
};

// Rows of a row-major matrix as blocks: block b holds its rows b·block …, [depth][block].
struct Blocks {
  Blocks() = default;
  Blocks(const FusedKernels& kernels, Index rows, Index depth);

  float* block(Index b) { return data.at(b * stride()); }
  const float* block(Index b) const { return data.at(b * stride()); }
  Index stride() const { return depth * height; }

  Index count = 0, depth = 0, height = 0;
  FusedBuffer data;
};

// panel += blocks · right for any depth, a strip of it at a time, so that the strip of `right` stays in the first cache.
void multiply_deep(const FusedKernels& kernels, const float* blocks, Index block_stride, Index count,
                   Index depth, const float* right, float* panel);

// Tokens first … of `rows_of`, a row-major (tokens, width) with `stride` from one token to the next, into one panel
// [width][lanes]; lanes beyond `tokens` become 0.
void fill_panel(const float* first_token, Index tokens, Index stride, Index width, Index lanes, float* panel);

// Rows of `matrix`, row-major with `stride`, into a block [depth][height]; rows beyond `rows` become 0.
void fill_block(const float* first_row, Index rows, Index stride, Index depth, Index height, float* block);

// The way back: row-major (tokens, width) at `out` with `stride`.
void read_panel(const float* panel, Index tokens, Index width, Index lanes, float* out, Index stride);

}  // namespace headwise
