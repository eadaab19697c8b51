// What every head of a model looks at in one text: its scores (core/model/heads/head_scores.h)
// and a small picture of its map.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/model/heads/head_scores.h"
#include "core/model/transformer/transformer.h"

namespace headwise {

struct SurveyedHead {
  Index layer = 0, head = 0;  // the layer's number among those of the files
  HeadScores scores;
};

struct HeadSurvey {
  Index num_layers = 0, num_heads = 0, length = 0;
  Index first_layer = 0;            // Transformer::first_layer
  std::vector<SurveyedHead> heads;  // layer by layer: head h of layer l is number l·num_heads + h
  // Per layer (H,R,R), R = ⌈L / block⌉ ≤ most_picture_side: the largest weight of each block of cells.
  std::vector<TensorPtr> pictures;
  Index block = 1;
};
inline constexpr Index most_picture_side = 64;

// From the first head that has it, or null: the score of uniform weights and the number of queries are the
// same for all heads except for rows that are left out.
const MeasuredScore* measured_score(const HeadSurvey& survey, HeadScore score);

// The model reads the tokens once; the weights of only one layer are in memory at a time. Reports progress
// (core/tensor/progress.h). Throws Error(input) if the model does not accept these tokens,
// Error(memory), Error(cancelled).
HeadSurvey survey_heads(const Transformer& transformer, std::span<const ScoredToken> tokens);

// What a model would predict without a head: each head in turn outputs 0 (gain 0, what `M` does in the
// window), everything after its layer is recomputed, and the prediction is compared with the original one.
// Michel et al. 2019 ("Are Sixteen Heads Really Better than One?") call it ablating one head.

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

// The head that tells two versions of a sentence apart: "the animal did not cross the street because it was
// too tired" and the same with "wide". Its query for "it" attends to another noun in each.

struct SwitchingHead {
  Index layer = 0, head = 0;
  Index query = 0;  // position in the text, the same token in both versions
  // the key that the query attends to most, in the first and in the second version
  std::array<Index, 2> keys{};
  std::array<double, 2> weights{};  // of those keys
};

// Of all heads and queries, the one that attends most clearly to one key in the first version and to another
// in the second: the smaller of the two weights is the largest. Query and keys are positions whose token is
// the same in both versions. Nullopt if the versions do not have the same number of tokens, or every query
// attends most to the same key in both. Runs the model twice; throws like Transformer::run.
std::optional<SwitchingHead> find_switching_head(const Transformer& transformer, std::span<const TokenId> first,
                                                 std::span<const TokenId> second);

}  // namespace headwise
