// The masks of one attention as the fused backend meets them, a row at a time: from which to which key a query looks, and
// what is added there. Nothing of the size L × S is made. What a cell adds is the same as in
// core/attention/attention_mask.h.
#pragma once

#include <vector>

#include "core/attention/attention_mask.h"

namespace headwise {

// Keys [from, to); empty where to ≤ from.
struct KeyReach {
  Index from = 0, to = 0;
};

class RowMasks {
 public:
  // `all_keys` is S′: the columns from `keys` on are never blocked. The masks' shapes must have been checked; `options`
  // and what `given` points to must outlive this.
  RowMasks(const AttentionOptions& options, const GivenMasks& given, Index batch, Index queries, Index keys,
           Index all_keys);

  // Whether keys are blocked or weighed otherwise than by each query's reach: then `fill` says how. Where `look_behind`
  // blocked keys are never left out, because a NaN behind a mask still counts.
  bool adds(bool look_behind) const { return look_behind ? any_ : adds_; }

  // Keys outside of it are blocked for this query. Without `look_behind` only.
  KeyReach reach(Index n, Index query) const;

  // bias[key − from] for keys [from, to): what the masks add for a query of head h.
  void fill(Index n, Index h, Index query, Index from, Index to, float* bias) const;

 private:
  Index valid_len(Index n, Index query) const;

  const AttentionOptions& options_;
  GivenMasks given_;
  Index queries_, keys_, all_keys_, offset_;
  bool any_ = false, adds_ = false;
  std::optional<AttnMaskView> view_;
  std::vector<double> slopes_;
  std::vector<Index> padding_from_;  // per batch: the key from which key_padding_mask blocks all that follow
};

}  // namespace headwise
