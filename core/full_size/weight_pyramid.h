// All attention maps of one run in a compact form: the minimum, maximum and mean weight of square blocks of cells, and of
// blocks of blocks, so that no single strong cell is lost when zoomed out.
#pragma once

#include <vector>

#include "core/full_size/weight_blocks.h"

namespace headwise {

class WeightPyramid {
 public:
  static constexpr Index most_bytes = Index{64} << 20;

  // Reads every weight once, on all available threads. The finest blocks are as small as most_bytes for all heads allows,
  // a power of two. Throws Error(memory), Error(cancelled).
  explicit WeightPyramid(WeightTiles& tiles);

  // From fine to coarse; the last has one block.
  const std::vector<PyramidLevel>& levels(Index n, Index h) const {
    return heads_[static_cast<std::size_t>(n * head_count_ + h)];
  }
  Index bytes() const;

 private:
  Index head_count_ = 0;
  std::vector<std::vector<PyramidLevel>> heads_;
};

}  // namespace headwise
