// Scores of other products than q·kᵀ, or scaled or capped differently; values of other tensors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/attention/heads.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/compare/program_variants.h"
#include "core/compare/tensor_fill.h"
#include "core/compare/tensor_readings.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

using Id = TensorId;

Tensor with_heads(const Tensor& x, Index heads) {
  return x.shape().size(1) == heads ? x : repeat_kv(x, heads);
}

// The heads of one tensor used for another's, if their sizes allow it.
void add_exchanges(const AttentionSizes& s, ProgramVariants& variants) {
  const auto scores_of = [&](const char* text, auto left, auto right) {
    variants.push_back({text, "", {}, {{Id::scores, [left, right, heads = s.heads](const Trace& so_far) {
                                          const TraceTensors& t = so_far.tensors;
                                          return attention_scores(with_heads(*left(t), heads),
                                                                  with_heads(*right(t), heads),
                                                                  t.scores->shape());
                                        }}}});
  };
  const auto q = [](const TraceTensors& t) { return queries_of_scores(t); };
  const auto k = [](const TraceTensors& t) { return keys_of_scores(t); };
  const auto v = [](const TraceTensors& t) { return t.v_heads; };
  if (s.queries == s.all_keys) {
    scores_of("the scores are q·qᵀ, not q·kᵀ", q, q);
    scores_of("the scores are k·kᵀ, not q·kᵀ", k, k);
    scores_of("the scores are k·qᵀ, not q·kᵀ: transposed", k, q);
  }
  if (s.head_dim == s.v_head_dim) scores_of("the scores are q·vᵀ: v stands in the place of k", q, v);
  if (s.head_dim > 1 && s.all_keys > 1)
    scores_of("kᵀ is k reshaped to (D,S), not transposed", q, [](const TraceTensors& t) {
      const Tensor& keys = *keys_of_scores(t);
      return shared_tensor(in_our_order(keys, keys.shape(), {{{0}, {1}, {3}, {2}}}));
    });
  const auto values_of = [&](const char* text, Id source) {
    variants.push_back({text, "", {}, {{Id::head_output, [source, heads = s.heads](const Trace& so_far) {
                                          const TensorPtr own = so_far.tensor(source);
                                          return weighted_sum(*so_far.tensors.dropped_weights,
                                                              with_heads(*own, heads));
                                        }}}});
  };
  if (s.head_dim == s.v_head_dim) {
    values_of("the weights weigh k, not v: k stands in the place of v", Id::k_heads);
    if (s.queries == s.all_keys)
      values_of("the weights weigh q, not v: q stands in the place of v", Id::q_heads);
  }
}

// The weights transposed before they are applied to the values.
void add_transposed_weights(const AttentionSizes& s, ProgramVariants& variants) {
  if (s.queries != s.all_keys) return;
  variants.push_back({"the weights are transposed: softmax(…)ᵀ·v",
                      "",
                      {},
                      {{Id::attn_weights, [](const Trace& so_far) {
                          const Tensor& own = *so_far.tensors.attn_weights;
                          const Cells cell(own);
                          return filled4(own.shape(),
                                         [&](Index n, Index h, Index l, Index t) { return cell(n, h, t, l); });
                        }}}});
}

// Rows of (…,W) divided by their norm, or by their root mean square.
Tensor normalised(const Tensor& x, bool root_mean_square, double epsilon) {
  Tensor result = x;
  const Index width = x.shape().size(x.shape().rank() - 1);
  const std::span<double> cells = result.values<double>();
  for (std::size_t row = 0; width > 0 && row < cells.size(); row += static_cast<std::size_t>(width)) {
    double sum = 0.0;
    const std::span<double> own = cells.subspan(row, static_cast<std::size_t>(width));
    for (const double cell : own) sum += cell * cell;
    const double norm =
        root_mean_square ? std::sqrt(sum / static_cast<double>(width) + epsilon) : std::sqrt(sum);
    for (double& cell : own) cell /= norm;
  }
  return result;
}

void add_normalised(bool rotary, ProgramVariants& variants) {
  const auto both = [&](std::string text, Id q, Id k, bool root_mean_square, double epsilon) {
    const auto change = [=](Id id) {
      return StageChange{id, [=](const Trace& so_far) {
                           return normalised(required(so_far, id), root_mean_square, epsilon);
                         }};
    };
    variants.push_back({std::move(text), "", {}, {change(q), change(k)}});
  };
  const Id q = rotary ? Id::q_rotary : Id::q_heads, k = rotary ? Id::k_rotary : Id::k_heads;
  both("each row of q and of k is divided by its norm (cosine attention)", q, k, false, 0.0);
  for (const double epsilon : {1e-6, 1e-5, 0.0})
    both("each row of q and of k is divided by its root mean square (QK-norm)", q, k, true, epsilon);
  if (rotary)
    for (const double epsilon : {1e-6, 1e-5, 0.0})
      both("each row of q and of k is divided by its root mean square (QK-norm)", Id::q_heads, Id::k_heads,
           true, epsilon);
}

// c·tanh(x/c) in other places, or written differently.
void add_softcaps(const AttentionInputs& inputs, const ScoreScale& own, ProgramVariants& variants) {
  const double scale = own.scale / own.temperature;
  const auto scaled = [&](std::string text, std::function<double(double)> of_score) {
    variants.push_back(
        {std::move(text), "", {}, {{Id::scaled_scores, [of_score = std::move(of_score)](const Trace& so_far) {
                                      return mapped_cells(*so_far.tensors.scores, of_score);
                                    }}}});
  };
  std::vector<double> caps{inputs.options.softcap};
  if (inputs.options.softcap == 0.0) caps = {50.0, 30.0, 20.0, 10.0, 5.0, 1.0};
  for (const double c : caps) {
    if (inputs.options.softcap == 0.0)
      variants.push_back({fmt::format("there is a softcap, {0:g}·tanh(score/{0:g})", c),
                          fmt::format("--set attention.softcap={:g}", c),
                          [c](AttentionInputs& other) { other.options.softcap = c; }});
    scaled(fmt::format("the softcap {:g} is applied before the scores are scaled", c),
           [c, scale](double x) { return scale * c * std::tanh(x / c); });
    scaled(fmt::format("the softcap {:g} is not multiplied back: tanh(score/c), not c·tanh(score/c)", c),
           [c, scale](double x) { return std::tanh(x * scale / c); });
    scaled(fmt::format("the softcap {:g} does not divide: c·tanh(score), not c·tanh(score/c)", c),
           [c, scale](double x) { return c * std::tanh(x * scale); });
    scaled(fmt::format("the scores are clipped at ±{:g}, not capped by c·tanh(score/c)", c),
           [c, scale](double x) { return std::clamp(x * scale, -c, c); });
    variants.push_back({fmt::format("the softcap {:g} is applied after the mask", c),
                        "",
                        [](AttentionInputs& other) { other.options.softcap = 0.0; },
                        {{Id::masked_scores, [c](const Trace& so_far) {
                            return mapped_cells(*so_far.tensors.masked_scores,
                                                [c](double x) { return c * std::tanh(x / c); });
                          }}}});
  }
  scaled("the scores lose their sign: |q·k|", [scale](double x) { return std::abs(x * scale); });
  scaled("negative scores become 0 (ReLU)", [scale](double x) { return std::max(0.0, x * scale); });
}

// x·factor, except for `bias` (…,W), which is not scaled, if there is one.
Tensor scaled_beside(const Tensor& x, double factor, const TensorPtr& bias) {
  Tensor result = x;
  const Index width = x.shape().size(x.shape().rank() - 1);
  for (Index i = 0; i < result.size(); ++i) {
    const double beside = bias ? bias->flat(i % width) : 0.0;
    result.set_flat(i, (x.flat(i) - beside) * factor + beside);
  }
  return result;
}

// The scale applied elsewhere: to q before the product, as in many programs, to q before its bias is added, to q and k.
void add_scaled_queries(const AttentionInputs& inputs, const AttentionOptions& o, ProgramVariants& variants) {
  if (o.softcap > 0.0 || o.temperature != 1.0) return;
  const double scale = score_scale(o).scale;
  const auto at = [&](const char* text, std::vector<Id> places, double factor, bool before_bias) {
    ProgramVariant variant{text, "", [](AttentionInputs& other) { other.options.scale = 1.0; }};
    for (const Id id : places)
      variant.stages.push_back({id, [=](const Trace& so_far) {
                                  const TensorPtr& bias = so_far.tensors.in_proj_bias;
                                  return scaled_beside(required(so_far, id), factor,
                                                       before_bias ? bias : nullptr);
                                }});
    variants.push_back(std::move(variant));
  };
  const bool module = o.op == Op::multi_head_attention;
  const bool rotary = o.rotary_base || !o.rotary_inverse_frequencies.empty();
  if (module) at("q is scaled as it is projected, not the scores", {Id::q}, scale, false);
  if (module && inputs.tensors.in_proj_bias)
    at("q is scaled before its bias is added, not the scores: the bias is too large", {Id::q}, scale, true);
  if (module && scale > 0.0)
    at("q and k are both scaled as they are projected, by √scale, not the scores", {Id::q, Id::k},
       std::sqrt(scale), false);
  at("q is scaled in its heads, not the scores", {Id::q_heads}, scale, false);
  if (rotary)
    at("q is scaled after it was turned by its positions, not the scores", {Id::q_rotary}, scale, false);
}

}  // namespace

void add_score_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionSizes sizes = attention_sizes(inputs);
  const AttentionOptions o = resolved_options(inputs);
  if (o.head_dim == 0) return;
  add_exchanges(sizes, variants);
  add_transposed_weights(sizes, variants);
  add_scaled_queries(inputs, o, variants);
  add_softcaps(inputs, score_scale(o), variants);
  add_normalised(o.rotary_base || !o.rotary_inverse_frequencies.empty(), variants);
}

}  // namespace headwise
