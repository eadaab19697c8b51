// How sharply a head can distinguish positions. The codes of two positions, over some of the sinusoid pairs,
// have the dot product K(δ) = Σ_p cos(ω_p·δ): it depends only on their distance and is largest, the number of
// pairs, at δ = 0. A softmax over β·K finds distance 0 if β is large enough.
#pragma once

#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

struct PositionKernel {
  std::vector<Index> pairs;         // which of the embedding's position pairs, fastest first
  std::vector<double> frequencies;  // ω of each, radians per position

  // The `count` pairs 0, stride, 2·stride … of `of` pairs.
  static PositionKernel strided(Index count, Index stride, Index of);

  double value(Index distance) const;                                // K(δ)
  double peak() const { return static_cast<double>(pairs.size()); }  // K(0)
  // The largest and the smallest K(δ) over 0 < |δ| < reach.
  double largest_beside(Index reach) const;
  double smallest(Index reach) const;
  // The smallest β for which distance 0 gets `share` of a softmax over all |δ| < reach; `most` if that is not
  // enough.
  double sharpness(Index reach, double share, double most) const;
};

}  // namespace headwise
