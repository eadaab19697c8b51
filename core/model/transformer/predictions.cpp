#include "core/model/transformer/predictions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/tensor/progress.h"

namespace headwise {
namespace {

// Calls block(first, count) for the rows of last_hidden, so many at a time that `most` logits are enough.
template <class Block>
void for_blocks(const Transformer& transformer, const Tensor& last_hidden, Index most, Block block) {
  const Index length = transformer.logit_rows(last_hidden.shape().size(1));
  const Index at_once = std::max<Index>(1, most / transformer.config().vocabulary);
  for (Index first = 0; first < length; first += at_once) {
    const Index count = std::min(at_once, length - first);
    const ProgressPart part(static_cast<double>(first) / static_cast<double>(length),
                            static_cast<double>(first + count) / static_cast<double>(length));
    block(first, count);
  }
}

}  // namespace

std::span<const float> logits_of(const Tensor& logits, Index row) {
  const auto words = static_cast<std::size_t>(logits.shape().size(1));
  return logits.values<float>().subspan(static_cast<std::size_t>(row) * words, words);
}

void visit_logits(const Transformer& transformer, const Tensor& last_hidden,
                  const std::function<void(Index row, std::span<const float> logits)>& body) {
  constexpr Index most = Index{1} << 24;  // 64 MiB at a time
  for_blocks(transformer, last_hidden, most, [&](Index first, Index count) {
    const TensorPtr logits = transformer.logits(last_hidden, first, count);
    for (Index row = 0; row < count; ++row) body(first + row, logits_of(*logits, row));
  });
}

double log_sum_exp(std::span<const float> logits) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

WordDistribution::WordDistribution(std::span<const float> row) : logits(row), log_sum(log_sum_exp(row)) {}

double divergence_bits(const WordDistribution& p, const WordDistribution& q) {
  double nats = 0.0;
  for (TokenId id = 0; id < static_cast<TokenId>(p.logits.size()); ++id) {
    const double log_p = p.log_probability(id), probability = std::exp(log_p);
    if (probability > 0.0 || std::isnan(probability)) nats += probability * (log_p - q.log_probability(id));
  }
  // Rounding may make it slightly negative.
  return nats < 0.0 ? 0.0 : nats / std::numbers::ln2;
}

std::vector<PredictedWord> top_tokens(std::span<const float> logits, Index k) {
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), TokenId{0});
  const auto logit = [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; };
  // NaN sorts after every number, so that this is a valid ordering.
  const auto before = [&](TokenId a, TokenId b) {
    const float of_a = logit(a), of_b = logit(b);
    if (std::isnan(of_a) || std::isnan(of_b)) return std::isnan(of_b) && (!std::isnan(of_a) || a < b);
    return of_a != of_b ? of_a > of_b : a < b;
  };
  const auto count =
      static_cast<std::ptrdiff_t>(std::min<std::size_t>(static_cast<std::size_t>(k), ids.size()));
  std::ranges::partial_sort(ids, ids.begin() + count, before);
  const double log_sum = log_sum_exp(logits);
  std::vector<PredictedWord> words;
  for (const TokenId id : std::span(ids).first(static_cast<std::size_t>(count)))
    words.push_back({id, std::exp(static_cast<double>(logit(id)) - log_sum)});
  return words;
}

std::vector<std::vector<PredictedWord>> top_tokens(const Transformer& transformer, const Tensor& last_hidden,
                                                   Index k) {
  std::vector<std::vector<PredictedWord>> all;
  visit_logits(transformer, last_hidden,
               [&](Index, std::span<const float> logits) { all.push_back(top_tokens(logits, k)); });
  return all;
}

namespace {

PredictionChange change_of(std::span<const float> before, std::span<const float> now, Index k) {
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
  constexpr Index most = Index{1} << 22;  // per side: 16 MiB at a time
  std::vector<PredictionChange> changes;
  for_blocks(transformer, before, most, [&](Index first, Index count) {
    const TensorPtr a = transformer.logits(before, first, count), b = transformer.logits(now, first, count);
    for (Index row = 0; row < count; ++row)
      changes.push_back(change_of(logits_of(*a, row), logits_of(*b, row), k));
  });
  return changes;
}

}  // namespace headwise
