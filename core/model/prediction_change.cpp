#include "core/model/prediction_change.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/progress.h"

namespace headwise {
namespace {

constexpr Index most_logits = Index{1} << 22;  // of each side: 16 MiB at a time

using Logits = std::span<const float>;

struct Side {
  Logits logits;
  double log_sum;
  double log_probability(TokenId id) const {
    return static_cast<double>(logits[static_cast<std::size_t>(id)]) - log_sum;
  }
  double probability(TokenId id) const { return std::exp(log_probability(id)); }
};

double bits_between(const Side& before, const Side& now) {
  double sum = 0.0;
  for (TokenId id = 0; id < static_cast<TokenId>(before.logits.size()); ++id) {
    const double p = before.probability(id);
    if (p > 0.0 || std::isnan(p)) sum += p * (before.log_probability(id) - now.log_probability(id));
  }
  // Rounding of two sums that are alike may leave a little less than nothing.
  return sum < 0.0 ? 0.0 : sum / std::log(2.0);
}

PredictionChange change_of(Logits before, Logits now, Index k) {
  const Side a{before, log_sum_exp(before)}, b{now, log_sum_exp(now)};
  PredictionChange change;
  for (const PredictedWord& word : top_words(before, k))
    change.before.push_back({word.id, word.probability, b.probability(word.id)});
  for (const PredictedWord& word : top_words(now, k))
    change.now.push_back({word.id, a.probability(word.id), word.probability});
  change.bits = bits_between(a, b);
  return change;
}

}  // namespace

std::vector<PredictionChange> prediction_changes(const Encoder& encoder, const Tensor& before,
                                                 const Tensor& now, Index k) {
  const Index length = before.shape().size(1), V = encoder.config().vocabulary;
  const Index at_once = std::max<Index>(1, most_logits / V);
  std::vector<PredictionChange> changes;
  for (Index first = 0; first < length; first += at_once) {
    const Index count = std::min(at_once, length - first);
    const ProgressPart part(static_cast<double>(first) / static_cast<double>(length),
                            static_cast<double>(first + count) / static_cast<double>(length));
    const TensorPtr a = encoder.logits(before, first, count), b = encoder.logits(now, first, count);
    for (Index row = 0; row < count; ++row) {
      const auto of = [&](const TensorPtr& logits) {
        return logits->values<float>().subspan(static_cast<std::size_t>(row * V),
                                               static_cast<std::size_t>(V));
      };
      changes.push_back(change_of(of(a), of(b), k));
    }
  }
  return changes;
}

}  // namespace headwise
