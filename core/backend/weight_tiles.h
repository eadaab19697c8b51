// The attention weights of a trace that did not keep them, recomputed on demand: any tile from q, k and the
// maximum and sum of each row. In f32; cells are defined as in core/attention/softmax.h, before dropout.
#pragma once

#include <optional>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/fused/fused_layout.h"
#include "core/fused/row_masks.h"

namespace headwise {

// Cells [first, last) of an axis.
struct CellRange {
  Index first = 0, last = 0;
  Index size() const { return last - first; }
  friend bool operator==(const CellRange&, const CellRange&) = default;
};

class WeightTiles {
 public:
  static constexpr Index most_queries = 32;  // of one strip

  // Needs q and k of the trace (multi_head_attention, f32, no frozen head), as kept by the fused backend
  // (FusedRun::keep_projections). Packs k: needs as much memory as k, and 8 bytes per row; with rotary
  // position embedding q and k once more. Throws Error(memory), Error(usage) for any other trace.
  explicit WeightTiles(TracePtr trace);

  const AttentionSizes& sizes() const { return sizes_; }

  // Weights of at most most_queries queries over all S′ keys: row r at the result + r·step(). Remembers the
  // maximum and the sum of these rows. Other threads may compute other rows concurrently,
  // each with its own scratch.
  struct Scratch {
    FusedBuffer scores, bias;
  };
  Scratch scratch() const;
  Index step() const;
  const float* strip(Index n, Index h, CellRange queries, Scratch& scratch);

  // Weights of head h, row-major into `out` (queries.size() × keys.size()).
  // The rows must have been in a strip() before.
  void tile(Index n, Index h, CellRange queries, CellRange keys, float* out) const;

 private:
  // Scores as input to the softmax, for at most most_queries queries and keys starting at a multiple of
  // panel_lanes.
  void scores_of(Index n, Index h, CellRange queries, CellRange keys, float* scores, Index step,
                 float* bias) const;
  std::size_t row(Index n, Index h, Index query) const {
    return static_cast<std::size_t>((n * sizes_.heads + h) * sizes_.queries + query);
  }

  TracePtr trace_;
  TensorPtr q_;  // (N,L,H·D), rotated if the options say so
  AttentionSizes sizes_;
  const FusedKernels& kernels_;
  std::vector<double> sinks_;  // per head; empty: none
  std::optional<RowMasks> masks_;
  std::optional<HeadPanels> keys_;    // (N,G,S′,D)
  std::vector<float> maximum_, sum_;  // per row; the maximum times log2 e
};

// Square blocks of attention weights, of which only the minimum, maximum and mean are stored.

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
