// What a model would predict without a head: each head in turn outputs 0 (gain 0, what `M` does in the
// window), everything after its layer is recomputed, and the prediction is compared with the original one.
// Michel et al. 2019 ("Are Sixteen Heads Really Better than One?") call it ablating one head.
#pragma once

#include <span>
#include <vector>

#include "core/model/heads/head_scores.h"
#include "core/model/transformer/transformer.h"

namespace headwise {

struct MutedHead {
  Index layer = 0, head = 0;
  // Positions whose prediction counts: all if the model predicts the next token, those of the text if it
  // fills in masked ones ([CLS] and [SEP] never have to be predicted).
  // Positions with a non-finite prediction do not count.
  Index positions = 0;
  double bits = 0.0;  // mean over positions of KL(p‖q) = Σ p log₂(p / q): p without, q with the head muted
  Index words_changed = 0;  // positions whose most probable token changes

  // The position whose prediction changes most, by its KL; −1: none counts.
  Index position = -1;
  double largest_bits = 0.0;
  TokenId before = 0, after = 0;                             // its most probable tokens
  double before_probability = 0.0, after_probability = 0.0;  // each in its own prediction
};

struct HeadMuting {
  std::vector<MutedHead> heads;  // layer by layer, as in HeadSurvey
};

// Layers before the muted head's are computed once. Predictions are made for a few positions at a time, so
// that memory does not grow with L·V. Reports progress, one step per head. Throws Error(input),
// Error(memory), Error(cancelled).
HeadMuting mute_each_head(const Transformer& transformer, std::span<const ScoredToken> tokens);

}  // namespace headwise
