// Square blocks of attention weights, of which only the minimum, maximum and mean are stored.
#pragma once

#include <vector>

#include "core/full_size/weight_tiles.h"

namespace headwise {

// For one head: rows × cols blocks, each of `block` × `block` cells (fewer at the lower and right edge), row-major.
struct PyramidLevel {
  Index block = 1, rows = 0, cols = 0;
  std::vector<float> min, max, mean;  // NaN where any cell of the block is NaN
};

// Bytes of a level over this many cells.
Index level_bytes(Index block, Index queries, Index keys);

// A level over `queries` × `keys` cells before any are added.
PyramidLevel empty_level(Index block, Index queries, Index keys);
// Adds some rows of weights, `step` apart, where row 0 is query `first`, to their blocks. `mean` is a sum until
// finish_means().
void add_rows(PyramidLevel& level, const float* weights, Index step, Index first, Index rows, Index keys);
void finish_means(PyramidLevel& level, Index queries, Index keys);
// The number of cells of block (r, c).
float cells_of(const PyramidLevel& level, Index r, Index c, Index queries, Index keys);
// Blocks of twice the side.
PyramidLevel coarser(const PyramidLevel& fine, Index queries, Index keys);

// The blocks of a part of a head's map, recomputed from q, k and the row statistics, in this thread: up to rounding those
// of a pyramid of all weights. `queries` and `keys` begin at multiples of `block` and end at one or with the map; the
// queries must have been in a strip() before. Throws Error(cancelled).
PyramidLevel weight_blocks(const WeightTiles& tiles, Index n, Index h, Index block, CellRange queries,
                           CellRange keys);

}  // namespace headwise
