// What every head of a model looks at in one text: its scores (core/model/heads/head_scores.h)
// and a small picture of its map.
#pragma once

#include <span>
#include <vector>

#include "core/model/heads/head_scores.h"
#include "core/model/transformer/transformer.h"

namespace headwise {

struct SurveyedHead {
  Index layer = 0, head = 0;
  HeadScores scores;
};

struct HeadSurvey {
  Index num_layers = 0, num_heads = 0, length = 0;
  std::vector<SurveyedHead> heads;  // layer by layer: head h of layer l is number l·num_heads + h
  // Per layer (H,R,R), R = ⌈L / block⌉ ≤ most_picture_side: the largest weight of each block of cells.
  std::vector<TensorPtr> pictures;
  Index block = 1;
};
inline constexpr Index most_picture_side = 64;

// The model reads the tokens once; the weights of only one layer are in memory at a time. Reports progress
// (core/tensor/progress.h). Throws Error(input) if the model does not accept these tokens,
// Error(memory), Error(cancelled).
HeadSurvey survey_heads(const Transformer& transformer, std::span<const ScoredToken> tokens);

}  // namespace headwise
