// What a model would say without a head: each head in turn puts out 0 (gain 0, what `M` does in the window), everything
// after its layer is computed anew, and the prediction is held against the untouched one. Michel et al. 2019 ("Are Sixteen
// Heads Really Better than One?") call it ablating one head.
#pragma once

#include <span>
#include <vector>

#include "core/model/heads/head_scores.h"
#include "core/model/transformer/transformer.h"

namespace headwise {

struct MutedHead {
  Index layer = 0, head = 0;
  // Positions whose prediction counts: all where the model says the next word, those of the text where it fills in hidden
  // ones ([CLS] and [SEP] were never asked for). Those where a prediction is not finite do not count.
  Index positions = 0;
  double bits = 0.0;  // mean over positions of KL(p‖q) = Σ p log₂(p / q): p without, q with the head muted
  Index words_changed = 0;  // positions whose most probable word is another

  // The position whose prediction changes most, by its KL; −1: none counts.
  Index position = -1;
  double largest_bits = 0.0;
  TokenId before = 0, after = 0;                             // its most probable words
  double before_probability = 0.0, after_probability = 0.0;  // each in its own prediction
};

struct HeadMuting {
  std::vector<MutedHead> heads;  // layer by layer, as in HeadSurvey
};

// Layers before the muted head's are computed once for all. A prediction is made for a few positions at a time, so that memory
// does not grow with L·V. Tells how far it has come, a step a head. Throws Error(input), Error(memory), Error(cancelled).
HeadMuting mute_each_head(const Transformer& transformer, std::span<const ScoredToken> tokens);

}  // namespace headwise
