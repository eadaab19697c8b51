// The masks of one attention as the fused backend reads them, one row at a time: the range of keys that a
// query looks at, and what is added there. Nothing of size L × S is created. What a cell adds is the same as
// in core/attention/attention_mask.h.
#pragma once

#include <optional>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/relative_bias.h"

namespace headwise {

// Keys [from, to); empty if to ≤ from.
struct KeyReach {
  Index from = 0, to = 0;
};

class RowMasks {
 public:
  // `all_keys` is S′: the columns from `keys` on are never blocked. The shapes of the masks must already have
  // been checked; `options` and what `given` points to must outlive this.
  RowMasks(const AttentionOptions& options, const GivenMasks& given, Index batch, Index queries, Index keys,
           Index all_keys);

  // Whether keys are blocked or biased other than by each query's reach: then `fill` gives the values. With
  // `reads_masked` blocked keys are never skipped, because a NaN behind a mask still counts.
  bool adds(bool reads_masked) const { return reads_masked ? any_ : adds_; }

  // Keys outside this range are blocked for this query. Only without `reads_masked`.
  KeyReach reach(Index n, Index query) const;

  // bias[key − from] for keys [from, to): what the masks add for a query of head h.
  void fill(Index n, Index h, Index query, Index from, Index to, float* bias) const;

 private:
  Index own_key(Index n, Index query) const;  // at the query's position

  const AttentionOptions& options_;
  GivenMasks given_;
  Index queries_, keys_, all_keys_;
  bool any_ = false, adds_ = false;
  std::optional<AttnMaskView> view_;
  std::vector<double> slopes_;
  std::optional<RelativeBiasTable> relative_;
  std::vector<Index> padding_from_;  // per batch: the key from which on key_padding_mask blocks everything
};

}  // namespace headwise
