#include "core/fused/attention_work.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/reference_backend.h"

namespace headwise {
namespace {

constexpr Index most_scores = 8 * 512 * 512;  // computed here by the reference
constexpr Index sampled_queries = 16;

// The number of keys that a query looks at.
Index visible_keys(const AttentionInputs& inputs, const AttentionSizes& sizes, Index n, Index query) {
  const GivenMasks given = given_masks(inputs.tensors);
  const Index own = query + causal_offset(resolved_options(inputs), given, n, sizes.queries, sizes.keys);
  const PositionWindow seen = seen_by_position(inputs.options);
  const Index from = std::max<Index>(0, own - seen.behind);
  const Index to = std::min(valid_keys(given, n, query, sizes.queries, sizes.keys), own + seen.ahead + 1);
  return std::max<Index>(0, to - from) + sizes.all_keys - sizes.keys;
}

// Queries [first, first + count) along `axis`.
Tensor queries_of(const Tensor& tensor, Index axis, Index first, Index count) {
  std::vector<Axis> axes = tensor.shape().axes();
  Index outer = 1, inner = 1;
  for (Index i = 0; i < axis; ++i) outer *= tensor.shape().size(i);
  for (Index i = axis + 1; i < tensor.shape().rank(); ++i) inner *= tensor.shape().size(i);
  const Index all = tensor.shape().size(axis);
  axes[static_cast<std::size_t>(axis)].size = count;
  Tensor part(Shape(axes), tensor.dtype());
  for (Index i = 0; i < outer; ++i)
    for (Index j = 0; j < count * inner; ++j)
      part.set_flat(i * count * inner + j, tensor.flat((i * all + first) * inner + j));
  return part;
}

double difference(const Tensor& a, const Tensor& b) {
  double worst = 0.0;
  for (Index i = 0; i < a.size(); ++i) {
    const double x = a.flat(i), y = b.flat(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double apart = std::abs(x - y);
    worst = std::max(worst, std::isfinite(apart) ? apart : std::numeric_limits<double>::max());
  }
  return worst;
}

// Masks given per query, frozen heads and dropout depend on the position of a cell:
// these runs are compared as a whole.
bool can_be_sampled(const AttentionInputs& inputs) {
  const TraceTensors& t = inputs.tensors;
  return !t.attn_mask && !t.valid_lens && !t.nonpad_kv_seqlen && !given_past_length(t) && !t.frozen_weights &&
         !inputs.options.indexer && inputs.options.dropout == 0.0;
}

}  // namespace

double attention_flops(const AttentionInputs& inputs) {
  const AttentionSizes s = attention_sizes(inputs);
  double pairs = 0.0;
  for (Index n = 0; n < s.batch; ++n)
    for (Index query = 0; query < s.queries; ++query)
      pairs += static_cast<double>(visible_keys(inputs, s, n, query));
  double flops = 2.0 * pairs * static_cast<double>(s.heads * (s.score_width() + s.value_width()));
  if (!projects(inputs.options.op)) return flops;
  const TraceTensors& t = inputs.tensors;
  const auto product = [&](Index tokens, Index depth, Index features) {
    flops += 2.0 * static_cast<double>(s.batch * tokens) * static_cast<double>(depth * features);
  };
  if (is_latent(inputs.options)) {
    product(s.queries, s.embed_dim, s.query_latent > 0 ? s.query_latent : s.heads * s.head_dim);
    if (s.query_latent > 0) product(s.queries, s.query_latent, s.heads * s.head_dim);
    product(s.new_keys(), inputs.options.kdim, s.latent + s.rope);
    product(s.absorbed ? s.queries : s.keys, s.latent, s.heads * (s.nope + s.v_head_dim));
    product(s.queries, s.heads * s.v_head_dim, s.embed_dim);
    return flops;
  }
  product(s.queries, s.embed_dim, s.heads * s.head_dim);
  if (!t.static_k) product(s.new_keys(), t.key->shape().size(2), s.kv_heads * s.head_dim);
  if (!t.static_v) product(s.new_keys(), t.value->shape().size(2), s.kv_heads * s.v_head_dim);
  product(s.queries, s.heads * s.v_head_dim, s.embed_dim);
  return flops;
}

double difference_from_reference(const AttentionInputs& inputs, const Tensor& output) {
  const AttentionSizes s = attention_sizes(inputs);
  if (s.heads * s.queries * s.all_keys <= most_scores || s.queries <= sampled_queries ||
      !can_be_sampled(inputs)) {
    return difference(output, *reference_forward(inputs)->tensors.output);
  }
  // If there are as many keys as queries, the last ones keep their positions under the other alignment.
  const bool last = s.queries == s.keys;
  const Index first = last ? s.queries - sampled_queries : 0;
  const bool module = projects(inputs.options.op);
  AttentionInputs part = inputs;
  const Index axis = module ? 1 : 2;
  part.tensors.query =
      std::make_shared<const Tensor>(queries_of(*inputs.tensors.query, axis, first, sampled_queries));
  if (last) {
    part.options.causal_alignment = CausalAlignment::bottom_right;
  } else if (inputs.options.causal_alignment == CausalAlignment::bottom_right) {
    return difference(output, *reference_forward(inputs)->tensors.output);
  }
  return difference(queries_of(output, axis, first, sampled_queries), *reference_forward(part)->tensors.output);
}

}  // namespace headwise
