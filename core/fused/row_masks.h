// The masks of one attention as the fused backend reads them, one row at a time: the range of keys that a
// query looks at, and what is added there. Nothing of size L × S is created. What a cell adds is the same as
// in core/attention/attention_mask.h.
#pragma once

#include <optional>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/relative_bias.h"

namespace headwise {

// Keys [from, to); empty if to ≤ from.
struct KeyReach {
  Index from = 0, to = 0;
};

class RowMasks {
 public:
  // The columns from sizes.keys on are never blocked. The shapes of the masks must already have been checked;
  // `options` and the masks of `tensors` must outlive this. The indexer's choice is made here.
  RowMasks(const AttentionOptions& options, const TraceTensors& tensors, const AttentionSizes& sizes);

  // Whether keys are blocked or biased other than by each query's reach: then `fill` gives the values. With
  // `reads_masked` blocked keys are never skipped, because a NaN behind a mask still counts.
  bool adds(bool reads_masked) const { return reads_masked ? any_ : adds_; }

  // Keys outside this range are blocked for this query. Only without `reads_masked`.
  KeyReach reach(Index n, Index query) const;

  // bias[key − from] for keys [from, to): what the masks add for a query of head h.
  void fill(Index n, Index h, Index query, Index from, Index to, float* bias) const;

 private:
  Index own_key(Index n, Index query) const;  // at the query's position
  // As `fill`, without the indexer's choice.
  void fill_others(Index n, Index h, Index query, Index from, Index to, float* bias) const;
  void choose_keys(const TraceTensors& tensors, const AttentionSizes& sizes);
  // The keys that the indexer chooses for a query of head h.
  const char* chosen_row(Index n, Index h, Index query) const {
    return chosen_.data() + ((n * chosen_heads_ + (chosen_heads_ == 1 ? 0 : h)) * queries_ + query) * keys_;
  }

  const AttentionOptions& options_;
  GivenMasks given_;
  Index queries_, keys_, all_keys_;
  bool any_ = false, adds_ = false;
  std::optional<AttnMaskView> view_;
  std::vector<double> slopes_;
  std::optional<RelativeBiasTable> relative_;
  std::vector<Index> padding_from_;  // per batch: the key from which on key_padding_mask blocks everything
  std::vector<char> chosen_;         // (N,1,L,S), or (N,H,L,S) if masks differ by head; empty: no indexer
  Index chosen_heads_ = 1;
};

}  // namespace headwise
