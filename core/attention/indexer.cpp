#include "core/attention/indexer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/attention/heads.h"
#include "core/attention/latent_attention.h"
#include "core/attention/linear.h"
#include "core/attention/multi_head_attention.h"
#include "core/attention/rules.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/softmax.h"
#include "core/tensor/eigen_maps.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

using Id = TensorId;

Shape with_axes(const Tensor& x, Axis rows, Axis width) {
  return Shape{x.shape().axes()[0], std::move(rows), std::move(width)};
}

double number(Index size) {
  return static_cast<double>(size);
}

Tensor with_rotation(const Tensor& x, const AttentionOptions& options, Index first) {
  const Rotation rotation = indexer_rotation(options);
  return rotation ? rotary_embedding(x, rotation, first) : x;
}

// x[…,w] += bias[w]
void add_bias(Tensor& x, const Tensor& bias) {
  dispatch_float(x.dtype(), [&]<class T>() { all_rows<T>(x).rowwise() += matrix<T>(bias).row(0); });
}

}  // namespace

TensorId indexer_source(const AttentionOptions& options) {
  return is_latent(options) ? Id::compressed_q : Id::query;
}

Index indexer_source_width(const AttentionOptions& options) {
  return is_latent(options) ? options.q_lora_rank.value_or(0) : options.embed_dim;
}

Rotation indexer_rotation(const AttentionOptions& options) {
  Rotation rotation = rotation_of(options);
  rotation.first = 0;
  rotation.pairs = options.indexer.value_or(Indexer{}).rotary_pairs;
  return rotation;
}

std::string indexer_problem(const AttentionOptions& options) {
  constexpr Index most = Index{1} << 20;
  const Indexer& indexer = options.indexer.value();
  const Index pairs = options.op == Op::scaled_dot_product_attention ? 0  // it is given what is rotated
                      : options.rotary_base                          ? rotary_width(options) / 2
                                            : std::ssize(options.rotary_inverse_frequencies);
  for (const auto& [name, size] :
       {std::pair("heads", indexer.heads), {"width", indexer.width}, {"k", indexer.k}})
    if (size < 1 || (size > most && name != std::string_view("k")))
      return fmt::format("{} = {}: expected {}", name, size,
                         name == std::string_view("k") ? "1 or more" : fmt::format("1 to {}", most));
  if (2 * pairs > indexer.width)
    return fmt::format("width = {}: the layer rotates {} columns, so give the indexer at least as many",
                       indexer.width, 2 * pairs);
  return "";
}

Tensor indexer_queries(const Tensor& source, const Tensor& weight, const AttentionOptions& options,
                       const AttentionSizes& sizes) {
  const Index heads = options.indexer.value().heads, columns = weight.shape().size(0);
  const Tensor rows = linear(source, {&weight}, with_axes(source, {"L", sizes.queries}, {"Hi·W", columns}));
  return with_rotation(split_heads(rows, heads, "Hi", "W"), options,
                       rotary_first_query(options, sizes.queries, sizes.keys));
}

Tensor indexer_keys(const Tensor& key, const Tensor& weight, const Tensor* gain, const Tensor* bias,
                    const AttentionOptions& options, const AttentionSizes& sizes) {
  const Tensor rows =
      linear(key, {&weight}, with_axes(key, {"S", sizes.new_keys()}, {"W", weight.shape().size(0)}));
  Tensor normed = normalised(rows, gain, indexer_norm);
  if (bias) add_bias(normed, *bias);
  return with_rotation(split_heads(normed, 1, "1", "W"), options, rotary_first_key(options));
}

Tensor indexer_weights(const Tensor& query, const Tensor& weight, const AttentionOptions& options,
                       const AttentionSizes& sizes) {
  const Index heads = options.indexer.value().heads;
  Tensor weights = linear(query, {&weight}, with_axes(query, {"L", sizes.queries}, {"Hi", heads}));
  dispatch_float(weights.dtype(),
                 [&]<class T>() { all_cells<T>(weights) *= static_cast<T>(1.0 / std::sqrt(number(heads))); });
  return weights;
}

Tensor indexer_scores(const Tensor& q, const Tensor& k, const Tensor& weights) {
  const Index heads = q.shape().size(1), queries = q.shape().size(2), width = q.shape().size(3);
  const Index keys = k.shape().size(2);
  Tensor scores = Tensor::unwritten(Shape{{"N", q.shape().size(0)}, {"L", queries}, {"S", keys}}, q.dtype());
  const double scale = 1.0 / std::sqrt(number(width));
  dispatch_float(q.dtype(), [&]<class T>() {
    for_ranges(q.shape().size(0) * queries, number(heads * width) * number(keys), [&](Index first, Index last) {
      for (Index row = first; row < last; ++row) {
        const Index n = row / queries, l = row % queries;
        const RowMatrix<double> rows = matrix<T>(k, n).template cast<double>();
        Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(keys);
        for (Index m = 0; m < heads; ++m) {
          const Eigen::VectorXd own = matrix<T>(q, n * heads + m).row(l).template cast<double>();
          const Eigen::ArrayXd products = scale * (rows * own).array();
          const auto weight = static_cast<double>(matrix<T>(weights, n)(l, m));
          // Not max(x, 0), which would drop a NaN.
          sum += weight * (products < 0.0).select(0.0, products);
        }
        matrix<T>(scores, n).row(l) = sum.matrix().transpose().template cast<T>();
      }
    });
  });
  return scores;
}

void score_keys(ForwardPass& pass) {
  TraceTensors& t = pass.tensors;
  const AttentionOptions& o = pass.options;
  Stages& stages = pass.stages;
  constexpr Id all[]{Id::indexer_q, Id::indexer_k, Id::indexer_weights, Id::indexer_scores};
  if (!o.indexer) {
    for (const Id id : all) stages.none(id, nullptr);
    return;
  }
  if (projects(o.op)) {
    const Rotation rotation = indexer_rotation(o);
    const auto choices = [&](Index first) {
      std::vector<double> numbers = rotation.numbers();
      numbers.insert(numbers.end(), {number(first), number(o.indexer->heads)});
      return numbers;
    };
    const TensorPtr& source = t.*(tensor_entry(indexer_source(o)).member);
    stages.run(
        Id::indexer_q, {source, t.indexer_wq_b},
        [&] { return indexer_queries(*source, *t.indexer_wq_b, o, pass.sizes); },
        choices(rotary_first_query(o, pass.sizes.queries, pass.sizes.keys)));
    stages.run(
        Id::indexer_k, {t.key, t.indexer_wk, t.indexer_k_norm_weight, t.indexer_k_norm_bias},
        [&] {
          return indexer_keys(*t.key, *t.indexer_wk, t.indexer_k_norm_weight.get(),
                              t.indexer_k_norm_bias.get(), o, pass.sizes);
        },
        choices(rotary_first_key(o)));
    stages.run(Id::indexer_weights, {t.query, t.indexer_weights_proj},
               [&] { return indexer_weights(*t.query, *t.indexer_weights_proj, o, pass.sizes); });
  } else {
    for (const Id id : {Id::indexer_q, Id::indexer_k, Id::indexer_weights})
      stages.same(id, t.*(tensor_entry(id).member));
  }
  stages.run(Id::indexer_scores, {t.indexer_q, t.indexer_k, t.indexer_weights},
             [&] { return indexer_scores(*t.indexer_q, *t.indexer_k, *t.indexer_weights); });
}

TensorPtr exact_indexer_scores(const AttentionOptions& o, const TraceTensors& t) {
  if (!o.indexer) return nullptr;
  if (t.indexer_scores && t.indexer_scores->dtype() == DType::f64) return t.indexer_scores;
  const auto wide = [](const TensorPtr& tensor) { return tensor->converted(DType::f64); };
  const auto kept = [](Tensor tensor) { return std::make_shared<const Tensor>(std::move(tensor)); };
  if (o.op == Op::scaled_dot_product_attention)
    return kept(indexer_scores(wide(t.indexer_q), wide(t.indexer_k), wide(t.indexer_weights)));
  const AttentionSizes sizes = attention_sizes(o, t);
  const auto or_null = [&](const TensorPtr& tensor) {
    return tensor ? std::optional(wide(tensor)) : std::nullopt;
  };
  const Tensor query = wide(t.query);
  const auto compressed = [&] {
    const std::optional<Tensor> bias = or_null(t.q_a_bias), weight = or_null(t.q_a_norm_weight);
    return compressed_queries(query, wide(t.q_a_weight), bias ? &*bias : nullptr, weight ? &*weight : nullptr,
                              o, sizes);
  };
  const std::optional<Tensor> gain = or_null(t.indexer_k_norm_weight), bias = or_null(t.indexer_k_norm_bias);
  return kept(indexer_scores(
      indexer_queries(is_latent(o) ? compressed() : query, wide(t.indexer_wq_b), o, sizes),
      indexer_keys(wide(t.key), wide(t.indexer_wk), gain ? &*gain : nullptr, bias ? &*bias : nullptr, o, sizes),
      indexer_weights(query, wide(t.indexer_weights_proj), o, sizes)));
}

Tensor full_weights(const Tensor& scaled_scores, const Tensor& bias, const AttentionOptions& o,
                    const Tensor* sinks, const Tensor* frozen_weights) {
  Tensor weights = softmax(mask_scores(scaled_scores, bias, o.mask_value), o.fully_masked_rows, sinks);
  if (o.frozen_heads.empty()) return weights;
  return with_frozen_heads(std::move(weights), *frozen_weights, o.frozen_heads);
}

AttentionOptions without_indexer(AttentionOptions options) {
  options.indexer.reset();
  return options;
}

ChosenKeys::ChosenKeys(std::span<const double> scores, const std::vector<char>& allowed, Index k)
    : chosen_(scores.size(), 0) {
  for (std::size_t s = 0; s < scores.size(); ++s)
    if (allowed[s]) order_.push_back(static_cast<Index>(s));
  const auto larger = [&](Index a, Index b) {
    const double x = scores[static_cast<std::size_t>(a)], y = scores[static_cast<std::size_t>(b)];
    return std::isnan(x) ? !std::isnan(y) : x > y;
  };
  std::ranges::stable_sort(order_, larger);
  for (Index i = 0; i < std::min(k, this->allowed()); ++i)
    chosen_[static_cast<std::size_t>(order_[static_cast<std::size_t>(i)])] = 1;
}

std::optional<Index> ChosenKeys::rank(Index key) const {
  const auto at = std::ranges::find(order_, key);
  if (at == order_.end()) return std::nullopt;
  return at - order_.begin() + 1;
}

std::vector<double> indexer_row(const Tensor& scores, Index n, Index l) {
  const Index keys = scores.shape().size(2), first = (n * scores.shape().size(1) + l) * keys;
  std::vector<double> row(static_cast<std::size_t>(keys));
  for (Index s = 0; s < keys; ++s) row[static_cast<std::size_t>(s)] = scores.flat(first + s);
  return row;
}

ChosenKeys chosen_keys(const Trace& trace, Index n, Index h, Index l) {
  const Trace& exact = trace.exact ? *trace.exact : trace;
  const std::vector<double> scores = indexer_row(*exact.tensors.indexer_scores, n, l);
  std::vector<char> allowed(scores.size(), 1);
  for (const Product& product : mask_products(exact)) {
    if (product.reading == MaskReading::not_chosen) continue;
    // Biases by distance, which block nothing, may not be kept.
    if (!product.factors.empty() && !exact.tensor(product.factors.front().tensor)) continue;
    for (std::size_t s = 0; s < scores.size(); ++s) {
      const std::vector<Index> cell{n, h, l, static_cast<Index>(s)};
      if (holds_at(product, cell) &&
          mask_addend(exact, product, cell) == -std::numeric_limits<double>::infinity())
        allowed[s] = 0;
    }
  }
  return {scores, allowed, trace.options.indexer.value().k};
}

}  // namespace headwise
