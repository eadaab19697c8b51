// The attention weights of a trace that did not keep them, recomputed on demand: any tile from q, k and the
// maximum and sum of each row. In f32; cells are defined as in core/attention/softmax.h, before dropout.
#pragma once

#include <optional>
#include <vector>

#include "core/fused/fused_layout.h"
#include "core/fused/row_masks.h"
#include "core/trace/attention_sizes.h"

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
  std::optional<RowMasks> masks_;
  std::optional<HeadPanels> keys_;    // (N,G,S′,D)
  std::vector<float> maximum_, sum_;  // per row; the maximum times log2 e
};

}  // namespace headwise
