// The blocks of 64 × 64 scores that a given mask rules out, and that shaders/scaled_dot_product_attention.comp therefore skips.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

constexpr Index mask_block = 64;  // queries and keys of a block

struct BlockedBlocks {
  std::vector<std::uint32_t> bits = {};  // a bit each, 1: ruled out; empty: none is
  // From the bit of a block to that of the next batch, head and row of blocks; 0 where they share one. The next block of keys has the
  // next bit.
  Index batch_step = 0, head_step = 0, row_step = 0;

  // How many of key blocks [first, end) are ruled out for all of rows [row, row + rows) of blocks, of batch n and head h.
  Index count(Index n, Index h, Index row, Index rows, Index first, Index end) const;
};

}  // namespace headwise
