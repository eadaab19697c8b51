#include "core/answers/head_statistics.h"

#include <cmath>
#include <limits>

#include "core/tensor/error.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

struct Row {
  double entropy = 0.0, distance = 0.0, back = 0.0;
  Index strongest = -1;
  double weight = 0.0;
  bool counts = false;
};

Row row_of(const Tensor& weights, Index offset, Index all_keys, Index keys, Index place) {
  Row row;
  double sum = 0.0;
  for (Index key = 0; key < all_keys; ++key) {
    const double p = weights.flat(offset + key);
    if (!std::isfinite(p)) return {};
    sum += p;
    if (p > 0.0) row.entropy -= p * std::log(p);
    if (key < keys) {
      row.distance += p * std::abs(static_cast<double>(place - key));
      row.back += p * static_cast<double>(place - key);
    }
    if (row.strongest < 0 || p > row.weight) {
      row.strongest = key;
      row.weight = p;
    }
  }
  row.counts = sum > 0.0;
  return row;
}

// The number of keys that a mask leaves open to a query.
Index open_keys(const TensorPtr& mask, Index offset, Index all_keys) {
  if (!mask) return all_keys;
  Index open = 0;
  for (Index key = 0; key < all_keys; ++key)
    open += mask->flat(offset + key) != -std::numeric_limits<double>::infinity() ? 1 : 0;
  return open;
}

}  // namespace

HeadStatistics head_statistics(const Trace& trace, Index batch, Index head) {
  const TensorPtr weights = trace.tensors.attn_weights;
  const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
  if (!weights || batch < 0 || batch >= sizes.batch || head < 0 || head >= sizes.heads) {
    throw Error(ExitStatus::usage, {"head statistics", "the trace has no such attn_weights map", "", "", ""});
  }
  const Index shift =
      trace.options.causal_alignment == CausalAlignment::bottom_right ? sizes.keys - sizes.queries : 0;
  // As large as the weights, or null.
  const TensorPtr bias = trace.tensors.mask_bias;
  const TensorPtr mask = bias && bias->size() == weights->size() ? bias : nullptr;
  HeadStatistics all;
  for (Index query = 0; query < sizes.queries; ++query) {
    const Index offset = ((batch * sizes.heads + head) * sizes.queries + query) * sizes.all_keys;
    const Row row = row_of(*weights, offset, sizes.all_keys, sizes.keys, query + shift);
    if (!row.counts) continue;
    ++all.rows;
    all.entropy += row.entropy;
    all.distance += row.distance;
    all.back += row.back;
    const Index open = open_keys(mask, offset, sizes.all_keys);
    // A row whose keys are all blocked but which still counts looks at all of them.
    all.most_entropy += std::log(static_cast<double>(open > 0 ? open : sizes.all_keys));
    // With one key a weight of 1 says nothing about the head.
    if (open >= 2 && (all.query < 0 || row.weight > all.strongest)) {
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

}  // namespace headwise
