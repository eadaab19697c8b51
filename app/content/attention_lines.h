// Which pairs of tokens are joined by a line:
// as few of the strongest as together hold a given share of the attention.
#pragma once

#include <vector>

#include "core/picture/heatmap.h"

namespace headwise {

struct AttentionLine {
  Index query = 0, key = 0;
  double weight = 0.0;
};

struct AttentionLines {
  std::vector<AttentionLine> lines;  // weakest first, so that the strong ones are drawn over them
  Index left_out = 0;                // weaker lines, dropped because there would be too many
};

// For each query (each key where `per_key`), its strongest pairs until their sum reaches `share` of its
// total. share in (0,1]; weights that are 0 or not finite join nothing. `weights` is (L,S′). If that gives
// more than `most` lines, each query (key) keeps the same number of its strongest, at least one.
AttentionLines attention_lines(const MatrixView& weights, double share, bool per_key, Index most);

}  // namespace headwise
