#include "core/fused/fused_layout.h"

#include <algorithm>

#include "core/tensor/memory.h"

namespace headwise {
namespace {

Index whole(Index size, Index part) {
  return (size + part - 1) / part;
}

}  // namespace

FusedBuffer::FusedBuffer(Index size) : size_(size) {
  require_memory(checked_multiply(size, static_cast<Index>(sizeof(float)), "a buffer"), "the fused backend");
  data_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(size));
}

Panels::Panels(const FusedKernels& kernels, Index batch_size, Index token_count, Index row_count)
    : batch(batch_size),
      tokens(token_count),
      count(whole(token_count, kernels.lanes)),
      rows(whole(row_count, kernels.block) * kernels.block),
      lanes(kernels.lanes),
      data(checked_multiply(batch * count, rows * lanes, "panels")) {}

Blocks::Blocks(const FusedKernels& kernels, Index row_count, Index depth_)
    : count(whole(row_count, kernels.block)),
      depth(depth_),
      height(kernels.block),
      data(checked_multiply(count, depth * height, "blocks")) {}

void multiply_deep(const FusedKernels& kernels, const float* blocks, Index block_stride, Index count,
                   Index depth, const float* right, float* panel) {
  constexpr Index floats_at_once = 6144;  // 24 KiB: three quarters of a usual first cache
  const Index depth_at_once = floats_at_once / kernels.lanes;
  for (Index k = 0; k < depth; k += depth_at_once) {
    kernels.multiply(blocks + k * kernels.block, block_stride, count, std::min(depth_at_once, depth - k),
                     right + k * kernels.lanes, panel, true);
  }
}

void fill_panel(const float* first_token, Index tokens, Index stride, Index width, Index lanes,
                float* panel) {
  // A few columns at a time: their rows of the panel stay in the first cache while the tokens go by.
  constexpr Index columns_at_once = 16;
  for (Index from = 0; from < width; from += columns_at_once) {
    const Index to = std::min(from + columns_at_once, width);
    for (Index token = 0; token < tokens; ++token) {
      const float* row = first_token + token * stride;
      for (Index column = from; column < to; ++column) panel[column * lanes + token] = row[column];
    }
    for (Index column = from; column < to; ++column)
      std::fill(panel + column * lanes + tokens, panel + (column + 1) * lanes, 0.0f);
  }
}

void fill_block(const float* first_row, Index rows, Index stride, Index depth, Index height, float* block) {
  for (Index r = 0; r < height; ++r) {
    const float* row = first_row + r * stride;
    for (Index k = 0; k < depth; ++k) block[k * height + r] = r < rows ? row[k] : 0.0f;
  }
}

void read_panel(const float* panel, Index tokens, Index width, Index lanes, float* out, Index stride) {
  constexpr Index columns_at_once = 16;
  for (Index from = 0; from < width; from += columns_at_once) {
    const Index to = std::min(from + columns_at_once, width);
    for (Index token = 0; token < tokens; ++token) {
      for (Index column = from; column < to; ++column)
        out[token * stride + column] = panel[column * lanes + token];
    }
  }
}

}  // namespace headwise
