#include "core/model/heads/head_survey.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/tensor/progress.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// The largest weight of each block × block cells of a map (L,L); NaN if a cell is.
void write_picture(const float* map, Index length, Index block, float* picture) {
  const Index side = (length + block - 1) / block;
  for (Index row = 0; row < side; ++row) {
    for (Index col = 0; col < side; ++col) {
      const Index rows_end = std::min(length, (row + 1) * block),
                  cols_end = std::min(length, (col + 1) * block);
      float largest = map[row * block * length + col * block];
      for (Index i = row * block; i < rows_end; ++i) {
        for (Index j = col * block; j < cols_end && !std::isnan(largest); ++j) {
          const float weight = map[i * length + j];
          if (!(weight <= largest)) largest = weight;
        }
      }
      picture[row * side + col] = largest;
    }
  }
}

}  // namespace

HeadSurvey survey_heads(const Transformer& transformer, std::span<const ScoredToken> tokens) {
  const TransformerConfig& config = transformer.config();
  const SeenKeys seen{config.is_causal, config.sliding_window};
  HeadSurvey survey;
  survey.num_layers = config.num_layers;
  survey.num_heads = config.num_heads;
  survey.length = static_cast<Index>(tokens.size());
  const Index length = survey.length, heads = config.num_heads;
  survey.block = std::max<Index>(1, (length + most_picture_side - 1) / most_picture_side);
  const Index side = (length + survey.block - 1) / survey.block;
  survey.heads.resize(static_cast<std::size_t>(config.num_layers * heads));

  std::vector<TokenId> ids;
  for (const ScoredToken& token : tokens) ids.push_back(token.id);
  std::optional<ProgressPart> part(std::in_place, 0.0, 0.5, "the text through the model");
  const Transformer::Pass pass = transformer.run(ids);
  part.emplace(0.5, 1.0, "the scores of the heads");
  for (Index layer = 0; layer < config.num_layers; ++layer) {
    const ProgressPart slice = slice_of_work(layer, config.num_layers);
    const TensorPtr weights =
        transformer.attn_weights(layer, *pass.layer_inputs[static_cast<std::size_t>(layer)]);
    Tensor pictures = Tensor::unwritten(Shape{{"H", heads}, {"L", side}, {"S", side}}, DType::f32);
    const float* const maps = weights->values<float>().data();
    float* const drawn = pictures.values<float>().data();
    run_tasks(heads, available_threads(), [&](Index head, int) {
      const auto number = static_cast<std::size_t>(layer * heads + head);
      survey.heads[number] = {layer, head, head_scores(*weights, 0, head, tokens, seen)};
      write_picture(maps + head * length * length, length, survey.block, drawn + head * side * side);
    });
    survey.pictures.push_back(std::make_shared<const Tensor>(std::move(pictures)));
  }
  return survey;
}

}  // namespace headwise
