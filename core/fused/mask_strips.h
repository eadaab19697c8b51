// The masks of one attention as the fused backend meets them: strips of neighbouring keys for a few queries of a head,
// each free, blocked or with something to add. Nothing of the size L × S is made. What a cell adds is the same as in
// core/attention/attention_mask.h.
#pragma once

#include <vector>

#include "core/attention/attention_mask.h"

namespace headwise {

// Keys [from, to) for some queries.
struct KeyStrip {
  Index from = 0, to = 0;
  bool masked = false;  // something is to be added
};

class MaskStrips {
 public:
  // `all_keys` is S′: the columns from `keys` on are never blocked. Where `skip_blocked` is false no key is left out,
  // because a NaN behind a mask still counts. The masks' shapes must have been checked; `options` and `given` must
  // outlive this.
  MaskStrips(const AttentionOptions& options, const GivenMasks& given, Index batch, Index queries, Index keys,
             Index all_keys, bool skip_blocked);

  // What the queries [first, last) of batch n may have to do with, in rising order; no two strips overlap, none is
  // longer than `longest`. Keys in no strip are blocked for all of these queries.
  std::vector<KeyStrip> strips(Index n, Index first, Index last, Index longest) const;

  // bias[(key − strip.from)·lanes + query − first]: what the masks add for the queries [first, last) of head h; lanes
  // beyond them get 0.
  void fill(Index n, Index h, Index first, Index last, const KeyStrip& strip, Index lanes, float* bias) const;

 private:
  Index valid_len(Index n, Index query) const;

  const AttentionOptions& options_;
  GivenMasks given_;
  Index batch_, queries_, keys_, all_keys_, offset_;
  bool skip_blocked_;
  std::optional<AttnMaskView> view_;
  std::vector<double> slopes_;
  std::vector<Index> padding_from_;  // per batch: the key from which key_padding_mask blocks all that follow
};

}  // namespace headwise
