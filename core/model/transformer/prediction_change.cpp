#include "core/model/transformer/prediction_change.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/progress.h"

namespace headwise {
namespace {

constexpr Index most_logits = Index{1} << 22;  // per side: 16 MiB at a time

using Logits = std::span<const float>;

PredictionChange change_of(Logits before, Logits now, Index k) {
  const WordDistribution a(before), b(now);
  PredictionChange change;
  for (const PredictedWord& word : top_tokens(before, k))
    change.before.push_back({word.id, word.probability, std::exp(b.log_probability(word.id))});
  for (const PredictedWord& word : top_tokens(now, k))
    change.now.push_back({word.id, std::exp(a.log_probability(word.id)), word.probability});
  change.bits = divergence_bits(a, b);
  return change;
}

}  // namespace

std::vector<PredictionChange> prediction_changes(const Transformer& transformer, const Tensor& before,
                                                 const Tensor& now, Index k) {
  const Index length = before.shape().size(1), V = transformer.config().vocabulary;
  const Index at_once = std::max<Index>(1, most_logits / V);
  std::vector<PredictionChange> changes;
  for (Index first = 0; first < length; first += at_once) {
    const Index count = std::min(at_once, length - first);
    const ProgressPart part(static_cast<double>(first) / static_cast<double>(length),
                            static_cast<double>(first + count) / static_cast<double>(length));
    const TensorPtr a = transformer.logits(before, first, count), b = transformer.logits(now, first, count);
    for (Index row = 0; row < count; ++row) {
      const auto of = [&](const TensorPtr& logits) {
        return logits->values<float>().subspan(static_cast<std::size_t>(row * V), static_cast<std::size_t>(V));
      };
      changes.push_back(change_of(of(a), of(b), k));
    }
  }
  return changes;
}

}  // namespace headwise
