// Square blocks of attention weights, of which only the minimum, maximum and mean are stored.
#pragma once

#include <vector>

#include "core/full_size/weight_tiles.h"

namespace headwise {

// For one head: rows × cols blocks, each of `block` × `block` cells (fewer at the lower and right edge),
// row-major.
struct PyramidLevel {
  Index block = 1, rows = 0, cols = 0;
  std::vector<float> min, max, mean;  // NaN where any cell of the block is NaN
};

// Bytes of a level over this many cells.
Index level_bytes(Index block, Index queries, Index keys);

// A level over `queries` × `keys` cells before any are added.
PyramidLevel empty_level(Index block, Index queries, Index keys);
// Adds some rows of weights, `step` apart, where row 0 is query `first`, to their blocks. `mean` is a sum
// until finish_means().
void add_rows(PyramidLevel& level, const float* weights, Index step, Index first, Index rows, Index keys);
void finish_means(PyramidLevel& level, Index queries, Index keys);
// The number of cells of block (r, c).
float cells_of(const PyramidLevel& level, Index r, Index c, Index queries, Index keys);
// Blocks of twice the side.
PyramidLevel coarser(const PyramidLevel& fine, Index queries, Index keys);

// The blocks of a part of a head's map, recomputed from q, k and the row statistics, in this thread: up to
// rounding those of a pyramid of all weights. `queries` and `keys` begin at multiples of `block` and end at
// one or with the map; the queries must have been in a strip() before. Throws Error(cancelled).
PyramidLevel weight_blocks(const WeightTiles& tiles, Index n, Index h, Index block, CellRange queries,
                           CellRange keys);

// All attention maps of one run in a compact form: the minimum, maximum and mean weight of square blocks of
// cells, and of blocks of blocks, so that no single strong cell is lost when zoomed out.

class WeightPyramid {
 public:
  static constexpr Index most_bytes = Index{64} << 20;

  // Reads every weight once, on all available threads. The finest blocks are as small as most_bytes for all
  // heads allows, a power of two. Throws Error(memory), Error(cancelled).
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
