#include "core/lessons/head_statistics.h"

#include <algorithm>
#include <cmath>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/blocked_cells.h"
#include "core/attention/softmax.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

struct WeightRow {
  double distance = 0.0, back = 0.0;
  Index strongest = -1;
  double weight = 0.0;
};

WeightRow weight_row_of(const Tensor& weights, Index offset, Index all_keys, Index keys, Index place) {
  WeightRow row;
  for (Index key = 0; key < all_keys; ++key) {
    const double p = weights.flat(offset + key);
    if (key < keys) {
      row.distance += p * std::abs(static_cast<double>(place - key));
      row.back += p * static_cast<double>(place - key);
    }
    if (row.strongest < 0 || p > row.weight) {
      row.strongest = key;
      row.weight = p;
    }
  }
  return row;
}

// Labels that are equal stand for the same word, if they are words at all.
std::vector<ScoredToken> scored_tokens_of(const Scenario& scenario, const ScenarioInputs& inputs) {
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

std::optional<RowEntropy> row_entropy(const Trace& trace, Index batch, Index head, Index query) {
  const TensorPtr& weights = trace.tensors.attn_weights;
  if (!weights || weights->shape().rank() != 4) return std::nullopt;
  const Shape& shape = weights->shape();
  const auto is_within = [&](Index i, Index axis) { return i >= 0 && i < shape.size(axis); };
  if (!is_within(batch, 0) || !is_within(head, 1) || !is_within(query, 2)) return std::nullopt;
  const Index keys = shape.size(3), first = ((batch * shape.size(1) + head) * shape.size(2) + query) * keys;
  const auto entropy = row_entropy(first, first + keys, [&](Index i) { return weights->flat(i); });
  if (!entropy) return std::nullopt;
  const Index open = open_keys(trace, batch, head, query);
  return RowEntropy{*entropy, std::log(static_cast<double>(open)), open};
}

HeadStatistics head_statistics(const Trace& trace, Index batch, Index head) {
  const TensorPtr weights = trace.tensors.attn_weights;
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  if (!weights || batch < 0 || batch >= sizes.batch || head < 0 || head >= sizes.heads)
    throw Error(ExitStatus::usage, {"head statistics", "the trace has no such attn_weights map", "", "", ""});
  const Index shift =
      causal_offset(trace.options, given_masks(trace.tensors), batch, sizes.queries, sizes.keys);
  HeadStatistics all;
  for (Index query = 0; query < sizes.queries; ++query) {
    const Index offset = ((batch * sizes.heads + head) * sizes.queries + query) * sizes.all_keys;
    const auto entropy = row_entropy(trace, batch, head, query);
    if (!entropy) continue;
    const WeightRow row = weight_row_of(*weights, offset, sizes.all_keys, sizes.keys, query + shift);
    ++all.rows;
    all.entropy += entropy->entropy;
    all.most_entropy += entropy->most;
    all.distance += row.distance;
    all.back += row.back;
    // With one key a weight of 1 says nothing about the head.
    if (entropy->open >= 2 && (all.query < 0 || row.weight > all.strongest)) {
      all.query = query;
      all.key = row.strongest;
      all.strongest = row.weight;
    }
  }
  if (all.rows == 0) return all;
  const auto rows = static_cast<double>(all.rows);
  all.entropy /= rows;
  all.most_entropy /= rows;
  all.distance /= rows;
  all.back /= rows;
  return all;
}

std::optional<HeadScores> traced_habits(const Trace& trace, const Scenario& scenario,
                                        const ScenarioInputs& inputs, Index batch, Index head) {
  const TensorPtr& weights = trace.tensors.attn_weights;
  if (!weights) return std::nullopt;
  const Shape& shape = weights->shape();
  const Index length = shape.size(2);
  const auto labels = static_cast<Index>(inputs.labels.query.size());
  const bool self = scenario.inputs.self_attention && shape.size(3) == length && labels == length;
  if (!self || batch >= shape.size(0) || head < 0 || head >= shape.size(1)) return std::nullopt;
  const std::vector<ScoredToken> tokens = scored_tokens_of(scenario, inputs);
  if (static_cast<Index>(tokens.size()) != length) return std::nullopt;
  // All masks, merged: causal ones and windows too.
  return head_scores(*weights, batch, head, tokens, {.mask = blocked_cells(trace, {TensorId::attn_weights})});
}

}  // namespace headwise
