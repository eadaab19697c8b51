#include "core/backend/sampled_agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/in_projection.h"
#include "core/attention/norm.h"
#include "core/attention/output_gate.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_scale.h"
#include "core/attention/softmax.h"
#include "core/fused/row_masks.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void compare(SampledAgreement& found, double got, double expected) {
  found.largest = std::max(found.largest, std::abs(expected));
  if (std::isnan(got) != std::isnan(expected)) found.max_abs_diff = std::numeric_limits<double>::quiet_NaN();
  const double difference = got == expected ? 0.0 : std::abs(got - expected);
  if (difference > found.max_abs_diff) found.max_abs_diff = difference;
}

const float* numbers(const Tensor* tensor) {
  return tensor->values<float>().data();
}

// Σ_e x[e]·weight[first_weight_row + o, e] + bias, for all o.
std::vector<double> affine_row(const std::vector<double>& x, const LinearRows& rows, Index out_features) {
  const Index in_features = rows.weight->shape().size(1);
  std::vector<double> y(static_cast<std::size_t>(out_features));
  for_ranges(out_features, static_cast<double>(in_features), [&](Index first, Index last) {
    for (Index o = first; o < last; ++o) {
      double sum = rows.bias ? numbers(rows.bias)[rows.first_bias_entry + o] : 0.0;
      const float* const weight = numbers(rows.weight) + (rows.first_weight_row + o) * in_features;
      for (Index e = 0; e < in_features; ++e) sum += x[static_cast<std::size_t>(e)] * weight[e];
      y[static_cast<std::size_t>(o)] = sum;
    }
  });
  return y;
}

// Row `row` of a tensor; `width` is the size of its last axis.
std::vector<double> row_of(const Tensor& tensor, Index row) {
  const Index width = tensor.shape().size(tensor.shape().rank() - 1);
  const float* const from = numbers(&tensor) + row * width;
  return {from, from + width};
}

// One head's row of q or k as a factor of the scores: normalised and rotated by its position where the
// options ask for it (core/attention/score_path.h), in double.
class RowPath {
 public:
  // `rows` (N,T,heads·D), `weight` or null.
  RowPath(const AttentionOptions& o, Index first_position, Index head_dim, const Tensor& rows,
          const TensorPtr& weight)
      : place_(o.qk_norm),
        norm_(qk_norm_of(o)),
        rows_(rows),
        weight_(weight),
        width_(head_dim),
        rotation_(rotation_of(o)) {
    const Index tokens = rows.shape().size(1);
    for (Index token = 0; token < tokens; ++token)
      for (Index pair = 0; pair < rotation_.count(); ++pair)
        turns_.emplace_back(rotation_.cosine(first_position + token, pair),
                            rotation_.sine(first_position + token, pair));
    for (Index row = 0; place_ == QkNorm::whole && row < rows.shape().size(0) * tokens; ++row)
      whole_.push_back(row_norm(wide_row<float>(rows, row), norm_));
  }

  void head(Index n, Index token, Index h, std::vector<double>& out) const {
    const Index row = n * rows_.shape().size(1) + token;
    std::copy_n(numbers(&rows_) + row * rows_.shape().size(2) + h * width_, width_, out.begin());
    Eigen::Map<WideRow> values(out.data(), width_);
    if (place_ == QkNorm::whole) normalise(values, whole_[static_cast<std::size_t>(row)], h);
    if (place_ == QkNorm::per_head) normalise(values, row_norm(values, norm_), h);
    for (Index pair = 0; pair < rotation_.count(); ++pair) {
      const auto [cosine, sine] = turns_[static_cast<std::size_t>(token * rotation_.count() + pair)];
      double &first = values[pair * rotation_.step()],
             &second = values[pair * rotation_.step() + rotation_.apart()];
      const double a = first, b = second;
      first = a * cosine - b * sine;
      second = b * cosine + a * sine;
    }
    if (place_ == QkNorm::per_head_after_rotary) normalise(values, row_norm(values, norm_), h);
  }

 private:
  void normalise(Eigen::Map<WideRow>& values, const RowNorm& row, Index h) const {
    values = (values - row.mean) / row.deviation;
    const bool shared = weight_ && weight_->size() == width_;
    for (Index d = 0; weight_ && d < width_; ++d)
      values[d] *= norm_.offset + weight_->flat((shared ? 0 : h * width_) + d);
  }

  std::optional<QkNorm> place_;
  Norm norm_;
  const Tensor& rows_;
  TensorPtr weight_;
  Index width_;
  Rotation rotation_;
  std::vector<std::pair<double, double>> turns_;  // (tokens, pairs): cos, sin
  std::vector<RowNorm> whole_;
};

class Sampler {
 public:
  explicit Sampler(const Trace& trace)
      : trace_(trace),
        t_(trace.tensors),
        o_(trace.options),
        s_(attention_sizes(o_, t_)),
        path_of_q_(o_, rotary_first_query(o_, s_.queries, s_.keys), s_.head_dim, *t_.q, t_.q_norm_weight),
        path_of_k_(o_, rotary_first_key(o_), s_.head_dim, *t_.k, t_.k_norm_weight),
        sinks_(sinks_of_heads(o_, t_, s_.heads)) {
    if (has_any_mask(o_, given_masks(t_))) masks_.emplace(o_, t_, s_);
  }

  void projected(Index n, Index token, Projection which, SampledAgreement& found) const {
    const bool is_q = which == Projection::q, is_k = which == Projection::k;
    if ((is_k && t_.static_k) || (which == Projection::v && t_.static_v)) return;  // it was not projected
    const Tensor& source = is_q ? *t_.query : is_k ? *t_.key : *t_.value;
    const Tensor& made = is_q ? *t_.q : is_k ? *t_.k : *t_.v;
    const TensorPtr& own = is_q ? t_.q_proj_weight : is_k ? t_.k_proj_weight : t_.v_proj_weight;
    const Index width = made.shape().size(2);
    const std::vector<double> expected = affine_row(
        row_of(source, n * source.shape().size(1) + token),
        in_projection_rows(which, o_, t_.in_proj_weight.get(), own.get(), t_.in_proj_bias.get()), width);
    for (Index i = 0; i < width; ++i)
      compare(found, made.flat((n * made.shape().size(1) + token) * width + i),
              expected[static_cast<std::size_t>(i)]);
  }

  void output(Index n, Index query, SampledAgreement& found) const {
    std::vector<double> concat(static_cast<std::size_t>(s_.heads * s_.v_head_dim), 0.0);
    run_tasks(s_.heads, available_threads(), [&](Index h, int) { head(n, query, h, concat); });
    if (const Tensor* const weight = t_.output_gate_weight.get()) {
      const Index numbers = weight->shape().size(0), columns = std::ssize(concat) / numbers;
      const std::vector<double> gate = affine_row(row_of(*t_.query, n * s_.queries + query),
                                                  {weight, 0, t_.output_gate_bias.get(), 0}, numbers);
      for (Index c = 0; c < std::ssize(concat); ++c)
        concat[static_cast<std::size_t>(c)] *= sigmoid(gate[static_cast<std::size_t>(c / columns)]);
    }
    const std::vector<double> expected =
        affine_row(concat, {t_.out_proj_weight.get(), 0, t_.out_proj_bias.get(), 0}, s_.embed_dim);
    for (Index i = 0; i < s_.embed_dim; ++i)
      compare(found, t_.output->flat((n * s_.queries + query) * s_.embed_dim + i),
              expected[static_cast<std::size_t>(i)]);
    ++found.rows;
  }

  const AttentionSizes& sizes() const { return s_; }

 private:
  // Row `key` of a past (N,G,P,W).
  static const float* past_row(const Tensor& past, Index n, Index g, Index key) {
    return numbers(&past) + past.shape().offset(std::vector<Index>{n, g, key, 0});
  }

  void head(Index n, Index query, Index h, std::vector<double>& concat) const {
    const Index g = h / (s_.heads / s_.kv_heads);
    const ScoreScale scaling = score_scale(o_);
    std::vector<double> weights(static_cast<std::size_t>(s_.all_keys));
    std::vector<float> bias(masks_ ? weights.size() : 0);
    if (masks_) masks_->fill(n, h, query, 0, s_.all_keys, bias.data());
    std::vector<double> q(static_cast<std::size_t>(s_.head_dim)), k(q.size());
    path_of_q_.head(n, query, h, q);
    const double sink = sinks_.empty() ? -infinity : sinks_[static_cast<std::size_t>(h)];
    double maximum = sink;
    for (Index key = 0; key < s_.all_keys; ++key) {
      if (key < s_.past)
        std::copy_n(past_row(*t_.past_key, n, g, key), s_.head_dim, k.begin());
      else
        path_of_k_.head(n, key - s_.past, g, k);
      double score = scaling.scaled(std::inner_product(q.begin(), q.end(), k.begin(), 0.0));
      if (masks_) {
        const double added = static_cast<double>(bias[static_cast<std::size_t>(key)]);
        score = o_.mask_value && added == -infinity ? *o_.mask_value : score + added;
      }
      weights[static_cast<std::size_t>(key)] = score;
      maximum = std::isnan(score) ? score : std::max(maximum, score);
    }
    double sum = sink == -infinity ? 0.0 : std::exp(sink - maximum);
    for (double& weight : weights) {
      weight = weight == -infinity ? 0.0 : std::exp(weight - maximum);
      sum += weight;
    }
    const auto v = [&](Index key) {
      return key < s_.past ? past_row(*t_.past_value, n, g, key)
                           : numbers(t_.v.get()) +
                                 ((n * s_.key_rows() + key - s_.past) * s_.kv_heads + g) * s_.v_head_dim;
    };
    const bool nothing = maximum == -infinity;
    const double gain = t_.head_gain           ? t_.head_gain->flat(h)
                        : o_.head_gain.empty() ? 1.0
                                               : o_.head_gain[static_cast<std::size_t>(h)];
    for (Index d = 0; d < s_.v_head_dim; ++d) {
      double value = 0.0;
      for (Index key = 0; key < s_.all_keys; ++key)
        value += weights[static_cast<std::size_t>(key)] * v(key)[d];
      value = !nothing                                        ? value / sum
              : o_.fully_masked_rows == FullyMaskedRows::zero ? 0.0
                                                              : std::numeric_limits<double>::quiet_NaN();
      concat[static_cast<std::size_t>(h * s_.v_head_dim + d)] = gain * value;
    }
  }

  const Trace& trace_;
  const TraceTensors& t_;
  const AttentionOptions& o_;
  const AttentionSizes s_;
  RowPath path_of_q_, path_of_k_;
  const std::vector<double> sinks_;  // of the heads; empty: none
  std::optional<RowMasks> masks_;
};

}  // namespace

SampledAgreement sampled_agreement(const Trace& trace, Index rows) {
  const TraceTensors& t = trace.tensors;
  const bool there = projects(trace.options.op) && t.q && t.k && t.v && t.output;
  if (!there || trace.dtype != DType::f32 || trace.options.dropout > 0.0 || !trace.options.frozen_heads.empty())
    throw Error(
        ExitStatus::usage,
        {.where = "the agreement with float64",
         .what = "it cannot be told of this trace",
         .expected = "multi_head_attention in f32 with q, k, v and output, no dropout and no frozen head"});
  const Sampler sampler(trace);
  const AttentionSizes& s = sampler.sizes();
  SampledAgreement found;
  // Evenly spread, including the first and the last.
  const auto each = [&](Index count, Index part, auto&& f) {
    const Index all = s.batch * count, wanted = std::min(rows, all);
    for (Index i = 0; i < wanted; ++i) {
      const ProgressPart progress(
          (static_cast<double>(part) + static_cast<double>(i) / static_cast<double>(wanted)) / 4.0,
          (static_cast<double>(part) + static_cast<double>(i + 1) / static_cast<double>(wanted)) / 4.0);
      const Index at = wanted > 1 ? i * (all - 1) / (wanted - 1) : 0;
      f(at / count, at % count);
    }
  };
  each(s.queries, 0, [&](Index n, Index token) { sampler.projected(n, token, Projection::q, found); });
  each(s.new_keys(), 1, [&](Index n, Index token) { sampler.projected(n, token, Projection::k, found); });
  each(s.new_keys(), 2, [&](Index n, Index token) { sampler.projected(n, token, Projection::v, found); });
  each(s.queries, 3, [&](Index n, Index query) { sampler.output(n, query, found); });
  return found;
}

}  // namespace headwise
