#include "core/answers/traced_habits.h"

#include <algorithm>

#include "core/scenario/text_inputs.h"
#include "core/trace/blocked_cells.h"

namespace headwise {
namespace {

// Labels that are equal stand for the same word, if they are words at all.
std::vector<ScoredToken> tokens_of(const Scenario& scenario, const ScenarioInputs& inputs) {
  if (inputs.model_input) return scored_tokens(inputs.model_input->text.tokens);
  const std::vector<std::string>& labels = inputs.labels.query;
  const bool words = scenario.inputs.source == InputSource::text;
  std::vector<EncodedToken> tokens;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto same = std::ranges::find(labels, labels[i]) - labels.begin();
    tokens.push_back({static_cast<TokenId>(same), labels[i], i, i + 1, false, !words});
  }
  return scored_tokens(tokens);
}

}  // namespace

std::optional<HeadScores> traced_habits(const Trace& trace, const Scenario& scenario,
                                        const ScenarioInputs& inputs, Index batch, Index head) {
  const TensorPtr& weights = trace.tensors.attn_weights;
  if (!weights) return std::nullopt;
  const Shape& shape = weights->shape();
  const Index length = shape.size(2);
  const auto labels = static_cast<Index>(inputs.labels.query.size());
  const bool self = scenario.inputs.self_attention && shape.size(3) == length && labels == length;
  if (!self || batch >= shape.size(0) || head < 0 || head >= shape.size(1)) return std::nullopt;
  const std::vector<ScoredToken> tokens = tokens_of(scenario, inputs);
  if (static_cast<Index>(tokens.size()) != length) return std::nullopt;
  // All masks, merged: causal ones and windows too.
  return head_scores(*weights, batch, head, tokens, {.mask = blocked_cells(trace, {TensorId::attn_weights})});
}

}  // namespace headwise
