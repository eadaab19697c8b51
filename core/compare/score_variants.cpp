#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"
#include "core/compare/narrow_types.h"
#include "core/compare/program_variants.h"
#include "core/compare/tensor_readings.h"

namespace headwise {
namespace {

using Id = TensorId;

Tensor with_heads(const Tensor& x, Index heads) {
  return x.shape().size(1) == heads ? x : repeat_kv(x, heads);
}

// The heads of one tensor used for another's, if their sizes allow it.
void add_exchanges(const AttentionSizes& s, const AttentionOptions& o, ProgramVariants& variants) {
  const bool rotary = has_rotary_embedding(o);
  const auto scores_of = [&](const char* text, auto left, auto right) {
    variants.push_back({text, {{Id::scores, [left, right, heads = s.heads](const Trace& so_far) {
                                  return attention_scores(with_heads(*left(so_far), heads),
                                                          with_heads(*right(so_far), heads),
                                                          so_far.tensors.scores->shape());
                                }}}});
  };
  const auto q = [](const Trace& t) { return queries_of_scores(t.tensors, t.options); };
  const auto k = [](const Trace& t) { return keys_of_scores(t.tensors, t.options); };
  const auto v = [](const Trace& t) { return values_of_sum(t.tensors); };
  if (s.queries == s.all_keys) {
    scores_of("the scores are q·qᵀ, not q·kᵀ", q, q);
    scores_of("the scores are k·kᵀ, not q·kᵀ", k, k);
    scores_of("the scores are k·qᵀ, not q·kᵀ: transposed", k, q);
  }
  if (s.score_width() == s.value_width()) scores_of("the scores are q·vᵀ: v stands in the place of k", q, v);
  if (s.head_dim > 1 && s.all_keys > 1)
    scores_of("kᵀ is k reshaped to (D,S), not transposed", q, [](const Trace& t) {
      const Tensor& keys = *keys_of_scores(t.tensors, t.options);
      return shared_tensor(in_our_order(keys, keys.shape(), {{{0}, {1}, {3}, {2}}}));
    });
  const auto values_of = [&](const char* text, Id source, const char* detail = "") {
    const StageChange weighed{Id::head_output, [source, heads = s.heads](const Trace& so_far) {
                                return weighted_sum(*so_far.tensors.dropped_weights,
                                                    with_heads(required(so_far, source), heads));
                              }};
    variants.push_back({text, {weighed}, {}, detail});
  };
  if (s.head_dim != s.v_head_dim) return;
  constexpr const char* rotated_text = "it is rotated by its positions (rotary)";
  for (const auto& [text, heads, rotary_heads, fits] :
       {std::tuple{"the weights weigh k, not v: k stands in the place of v", Id::k_heads, Id::k_rotary, true},
        std::tuple{"the weights weigh q, not v: q stands in the place of v", Id::q_heads, Id::q_rotary,
                   s.queries == s.all_keys}}) {
    if (!fits) continue;
    if (s.past > 0 && heads == Id::k_heads && !is_latent(o)) {
      values_of(text, Id::present_key);
      continue;
    }
    values_of(text, heads);
    if (rotary) values_of(text, rotary_heads, rotated_text);
  }
}

// The weights transposed before they are applied to the values.
void add_transposed_weights(const AttentionSizes& s, ProgramVariants& variants) {
  if (s.queries != s.all_keys) return;
  const auto transposed = [](const Cells& own, Index n, Index h, Index l, Index t) { return own(n, h, t, l); };
  variants.push_back({"the weights are transposed: softmax(…)ᵀ·v", {with_cells(Id::attn_weights, transposed)}});
}

// Rows divided by their norm, or by their root mean square.
StageChange normalised_scores(Id id, bool root_mean_square, double epsilon) {
  return with_rows(id, id, [=](std::span<double> row) {
    const double sum = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    const double norm =
        root_mean_square ? std::sqrt(sum / static_cast<double>(row.size()) + epsilon) : std::sqrt(sum);
    for (double& cell : row) cell /= norm;
  });
}

void add_normalised(const AttentionOptions& o, ProgramVariants& variants) {
  const auto both = [&](std::string text, Id q, Id k, bool root_mean_square, double epsilon) {
    variants.push_back(
        {std::move(text),
         {normalised_scores(q, root_mean_square, epsilon), normalised_scores(k, root_mean_square, epsilon)}});
  };
  const bool rotary = has_rotary_embedding(o), latents = is_latent(o);
  const Id q = latents ? path_of_queries(o).back() : rotary ? Id::q_rotary : Id::q_heads;
  const Id k = latents ? path_of_keys(o).back() : rotary ? Id::k_rotary : Id::k_heads;
  both("each row of q and of k is divided by its norm (cosine attention)", q, k, false, 0.0);
  for (const double epsilon : {1e-6, 1e-5, 0.0})
    both("each row of q and of k is divided by its root mean square (QK-norm)", q, k, true, epsilon);
  if (rotary && !latents)
    for (const double epsilon : {1e-6, 1e-5, 0.0})
      both("each row of q and of k is divided by its root mean square (QK-norm)", Id::q_heads, Id::k_heads,
           true, epsilon);
}

// c·tanh(x/c) in other places, or written differently.
void add_softcaps(const AttentionInputs& inputs, ProgramVariants& variants) {
  const auto scaled = [&](std::string text, std::function<double(double score, double scale)> value) {
    variants.push_back({std::move(text), {{Id::scaled_scores, [value = std::move(value)](const Trace& so_far) {
                                             const double scale = score_scale(so_far.options).factor();
                                             return mapped_cells(*so_far.tensors.scores,
                                                                 [&](double x) { return value(x, scale); });
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
           [c](double x, double scale) { return scale * c * std::tanh(x / c); });
    scaled(fmt::format("the softcap {:g} is not multiplied back: tanh(score/c), not c·tanh(score/c)", c),
           [c](double x, double scale) { return std::tanh(x * scale / c); });
    scaled(fmt::format("the softcap {:g} does not divide: c·tanh(score), not c·tanh(score/c)", c),
           [c](double x, double scale) { return c * std::tanh(x * scale); });
    scaled(fmt::format("the scores are clipped at ±{:g}, not capped by c·tanh(score/c)", c),
           [c](double x, double scale) { return std::clamp(x * scale, -c, c); });
    variants.push_back({fmt::format("the softcap {:g} is applied after the mask", c),
                        [](AttentionInputs& other) { other.options.softcap = 0.0; },
                        {mapped(Id::masked_scores, [c](double x) { return c * std::tanh(x / c); })}});
  }
  scaled("the scores lose their sign: |q·k|", [](double x, double scale) { return std::abs(x * scale); });
  scaled("negative scores become 0 (ReLU)", [](double x, double scale) { return std::max(0.0, x * scale); });
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

// The scale applied elsewhere: to q before the product, as in many programs,
// to q before its bias is added, to q and k.
void add_scaled_queries(const AttentionInputs& inputs, const AttentionOptions& o, ProgramVariants& variants) {
  if (score_scale(o).steps.size() > 1) return;
  const double scale = attention_scale(o);
  const auto at = [&](const char* text, std::vector<Id> places, double factor, bool before_bias) {
    ProgramVariant variant{text, [](AttentionInputs& other) { other.options.scale = 1.0; }};
    for (const Id id : places)
      variant.stages.push_back({id, [=](const Trace& so_far) {
                                  const TensorPtr& bias = so_far.tensors.in_proj_bias;
                                  return scaled_beside(required(so_far, id), factor,
                                                       before_bias ? bias : nullptr);
                                }});
    variants.push_back(std::move(variant));
  };
  const bool module = o.op == Op::multi_head_attention;
  if (module) at("q is scaled as it is projected, not the scores", {Id::q}, scale, false);
  if (module && inputs.tensors.in_proj_bias)
    at("q is scaled before its bias is added, not the scores: the bias is too large", {Id::q}, scale, true);
  if (module && scale > 0.0)
    at("q and k are both scaled as they are projected, by √scale, not the scores", {Id::q, Id::k},
       std::sqrt(scale), false);
  at("q is scaled in its heads, not the scores", {Id::q_heads}, scale, false);
  if (has_rotary_embedding(o))
    at("q is scaled after it was rotated by its positions, not the scores", {Id::q_rotary}, scale, false);
}

}  // namespace

void add_score_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionSizes sizes = attention_sizes(inputs);
  const AttentionOptions o = resolved_options(inputs);
  if (o.head_dim == 0) return;
  add_exchanges(sizes, o, variants);
  add_transposed_weights(sizes, variants);
  add_scaled_queries(inputs, o, variants);
  add_softcaps(inputs, variants);
  if (!o.qk_norm) add_normalised(o, variants);
}

namespace {

// Turns a row of scores into a row of weights.
using RowRule = std::function<void(std::span<double> row)>;

double row_maximum(std::span<const double> row) {
  const double maximum = *std::ranges::max_element(row);
  return std::isinf(maximum) && maximum < 0 ? 0.0 : maximum;  // a row of only −inf becomes exp(−inf) = 0
}

StageChange by_rows(RowRule rule) {
  return with_rows(Id::attn_weights, Id::masked_scores, std::move(rule));
}

// exp(x − shift)/(extra + Σ exp(x − shift)), where shift is the row's maximum or 0.
RowRule exponentials(bool shifted, double extra, bool divided) {
  return [=](std::span<double> row) {
    const double shift = shifted ? row_maximum(row) : 0.0;
    double sum = extra;
    for (double& cell : row) sum += cell = std::exp(cell - shift);
    if (!divided) return;
    for (double& cell : row) cell /= sum;
  };
}

// The softmax over one of the other axes of (N,H,L,S), or over several at once.
Tensor softmax_over(const Tensor& scores, const std::array<bool, 4>& axes) {
  const Shape& s = scores.shape();
  // Which sum a cell belongs to: its index with the summed axes set to 0.
  std::array<Index, 4> strides{};
  Index groups = 1;
  for (std::size_t axis = 4; axis-- > 0;) {
    if (axes[axis]) continue;
    strides[axis] = groups;
    groups *= s.size(static_cast<Index>(axis));
  }
  std::vector<double> maxima(static_cast<std::size_t>(groups), -std::numeric_limits<double>::infinity());
  std::vector<double> sums(static_cast<std::size_t>(groups), 0.0);
  const auto group = [&](Index n, Index h, Index l, Index k) {
    return static_cast<std::size_t>(n * strides[0] + h * strides[1] + l * strides[2] + k * strides[3]);
  };
  const Cells cell(scores);
  filled4(s, [&](Index n, Index h, Index l, Index k) {
    double& maximum = maxima[group(n, h, l, k)];
    return maximum = std::max(maximum, cell(n, h, l, k));
  });
  Tensor result = filled4(s, [&](Index n, Index h, Index l, Index k) {
    const std::size_t own = group(n, h, l, k);
    const double weight = std::exp(cell(n, h, l, k) - maxima[own]);
    sums[own] += weight;
    return weight;
  });
  const Cells weight(result);
  return filled4(
      s, [&](Index n, Index h, Index l, Index k) { return weight(n, h, l, k) / sums[group(n, h, l, k)]; });
}

void add_axes(const AttentionSizes& sizes, ProgramVariants& variants) {
  struct Axis {
    const char* text;
    std::array<bool, 4> axes;
    bool applies;
  };
  const Axis other[]{
      {"the softmax runs over the queries (axis L), not over the keys (axis S)",
       {false, false, true, false},
       true},
      {"the softmax runs over the heads (axis H), not over the keys (axis S)",
       {false, true, false, false},
       sizes.heads > 1},
      {"the softmax runs over the batch (axis N), not over the keys (axis S)",
       {true, false, false, false},
       sizes.batch > 1},
      {"the softmax runs over queries and keys together (axes L and S)",
       {false, false, true, true},
       sizes.queries > 1},
      {"the softmax runs over heads and keys together (axes H and S)",
       {false, true, false, true},
       sizes.heads > 1},
      {"the softmax runs over the whole tensor", {true, true, true, true}, sizes.batch * sizes.heads > 1}};
  for (const Axis& axis : other) {
    if (!axis.applies) continue;
    const StageChange along{Id::attn_weights, [axes = axis.axes](const Trace& so_far) {
                              return softmax_over(*so_far.tensors.masked_scores, axes);
                            }};
    variants.push_back({axis.text, {along}});  // NaN in a column in which every score is −inf
    variants.push_back(
        {axis.text, {along, mapped(Id::attn_weights, [](double x) { return std::isnan(x) ? 0.0 : x; })}});
    variants.push_back({axis.text,
                        [](AttentionInputs& other_inputs) { other_inputs.options.mask_value = -1e9; },
                        {along},
                        "blocked cells are filled with a large negative number, -1e9 say"});
  }
}

void add_rule(ProgramVariants& variants, std::string text, RowRule rule) {
  variants.push_back({std::move(text), {by_rows(std::move(rule))}});
}

// A softmax with another sum, or without one. Beside a missing sink, a small number in the sum changes
// nothing that f32 tells.
void add_sums(bool has_sink, ProgramVariants& variants) {
  add_rule(variants, "1 is added to the sum of the softmax: exp(score) / (1 + Σ exp(score))",
           [](std::span<double> row) {
             const double shift = std::max(0.0, row_maximum(row));
             double sum = std::exp(-shift);
             for (double& cell : row) sum += cell = std::exp(cell - shift);
             for (double& cell : row) cell /= sum;
           });
  add_rule(
      variants,
      "1 is added to the sum of the softmax after the row's maximum was subtracted: exp(score − max) / (1 + "
      "Σ …)",
      exponentials(true, 1.0, true));
  add_rule(variants, "the weights are exp(score), not divided by their sum over the row",
           exponentials(false, 0.0, false));
  add_rule(variants, "the weights are exp(score − row maximum), not divided by their sum over the row",
           exponentials(true, 0.0, false));
  if (has_sink) return;
  for (const double epsilon : {1e-3, 1e-2, 1e-4, 1e-5, 1e-6, 1e-8})
    for (const bool shifted : {true, false})
      add_rule(variants, fmt::format("{:g} is added to the sum of the softmax", epsilon),
               exponentials(shifted, epsilon, true));
}

void softmax_of(std::span<double> row) {
  exponentials(true, 0.0, true)(row);
}

// A softmax with something before or after it.
void add_changed_softmaxes(ProgramVariants& variants) {
  add_rule(variants, "the softmax is applied twice", [](std::span<double> row) {
    softmax_of(row);
    softmax_of(row);
  });
  add_rule(variants, "the weights are log(softmax)", [](std::span<double> row) {
    softmax_of(row);
    for (double& cell : row) cell = std::log(cell);
  });
  add_rule(variants, "the softmax is of base 2, not e: 2^score", [](std::span<double> row) {
    for (double& cell : row) cell *= 0.69314718055994531;
    softmax_of(row);
  });
  add_rule(variants, "the weights are the squares of the softmax", [](std::span<double> row) {
    softmax_of(row);
    for (double& cell : row) cell *= cell;
  });
}

// A softmax in a 16-bit type, whose result is cast back.
void add_narrow_softmaxes(const AttentionOptions& o, ProgramVariants& variants) {
  enum class Sum { wide, rounded_once, rounded_each };
  const bool nan = o.fully_masked_rows == FullyMaskedRows::nan;
  for (const NarrowType& type : {f16, bf16}) {
    const auto narrow = [type](double x) { return rounded_to(type, x); };
    // PyTorch rounds what goes in and what comes out; NumPy every step, and a loop every partial sum, too.
    for (const Sum how : {Sum::wide, Sum::rounded_once, Sum::rounded_each}) {
      for (const bool scores_narrow : {true, false}) {
        if (how == Sum::wide && !scores_narrow)
          continue;  // the weights alone are rounded: rounding_variants.cpp
        add_rule(variants, fmt::format("the softmax is computed in {} and cast back", type.name),
                 [=](std::span<double> row) {
                   if (scores_narrow)
                     for (double& cell : row) cell = narrow(cell);
                   const double maximum = row_maximum(row);
                   const auto step = [&](double x) { return how == Sum::wide ? x : narrow(x); };
                   double sum = 0.0;
                   for (double& cell : row) {
                     cell = step(std::exp(step(cell - maximum)));
                     sum = how == Sum::rounded_each ? narrow(sum + cell) : sum + cell;
                   }
                   sum = step(sum);
                   for (double& cell : row) cell = sum == 0.0 && !nan ? 0.0 : narrow(cell / sum);
                 });
      }
    }
  }
}

// Another function instead of the softmax.
void add_other_functions(ProgramVariants& variants) {
  add_rule(variants, "the weights are sigmoid(score), no softmax", [](std::span<double> row) {
    for (double& cell : row) cell = 1.0 / (1.0 + std::exp(-cell));
  });
  add_rule(variants, "the weights are the scores themselves, without a softmax", [](std::span<double>) {});
  add_rule(variants, "the weights are the scores themselves, blocked ones 0, without a softmax",
           [](std::span<double> row) {
             for (double& cell : row) cell = std::isinf(cell) ? 0.0 : cell;
           });
  add_rule(variants, "the weights are score / Σ score, without the exponential", [](std::span<double> row) {
    double sum = 0.0;
    for (double& cell : row) sum += cell = std::isinf(cell) ? 0.0 : cell;
    for (double& cell : row) cell /= sum;
  });
  add_rule(variants,
           "negative scores become 0 (ReLU) and each row is divided by its sum, without the exponential",
           [](std::span<double> row) {
             double sum = 0.0;
             for (double& cell : row) sum += cell = std::max(0.0, cell);
             for (double& cell : row) cell = sum > 0.0 ? cell / sum : 0.0;
           });
  add_rule(variants, "the largest score of a row gets all of its weight (argmax, no softmax)",
           [](std::span<double> row) {
             const auto largest = std::ranges::max_element(row) - row.begin();
             for (std::size_t i = 0; i < row.size(); ++i)
               row[i] = static_cast<std::ptrdiff_t>(i) == largest ? 1.0 : 0.0;
           });
  add_rule(variants, "every key has the same weight", [](std::span<double> row) {
    Index kept = 0;
    for (const double cell : row) kept += !std::isinf(cell);
    for (double& cell : row) cell = std::isinf(cell) ? 0.0 : 1.0 / static_cast<double>(kept);
  });
  add_rule(variants, "the weights are softmax(−score)", [](std::span<double> row) {
    for (double& cell : row) cell = std::isinf(cell) ? cell : -cell;
    softmax_of(row);
  });
}

}  // namespace

void add_softmax_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionSizes sizes = attention_sizes(inputs);
  if (sizes.all_keys == 0 || sizes.queries == 0 || sizes.batch == 0) return;
  add_axes(sizes, variants);
  add_sums(!inputs.options.sink.empty(), variants);
  add_changed_softmaxes(variants);
  add_narrow_softmaxes(inputs.options, variants);
  add_other_functions(variants);
  const double p = inputs.options.dropout;
  if (p > 0.0 && p < 1.0)
    variants.push_back({"what dropout leaves is not divided by 1 − p",
                        {mapped(Id::dropped_weights, [p](double x) { return x * (1.0 - p); })}});
}

}  // namespace headwise
