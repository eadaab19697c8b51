// Variants with one number that theirs chose differently: found by computing, not from a list.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/attention/rotary_embedding.h"
#include "core/compare/mask_patterns.h"
#include "core/compare/program_variants.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;

StageChange multiplied(Id id, double number) {
  return mapped(id, [number](double x) { return x * number; });
}

void add_fitted_masks(const AttentionInputs& inputs, std::vector<FittedVariant>& fits) {
  const AttentionOptions& o = inputs.options;
  const TraceTensors& t = inputs.tensors;
  const bool blocking =
      t.attn_mask || t.key_padding_mask || t.valid_lens || t.nonpad_kv_seqlen || seen_by_position(o).bounds();
  const std::vector<double> values{-0.1, -1, -3, -10, -30, -100, 0.1, 1, 5};
  if (blocking && !o.mask_value) {
    fits.push_back({values, [](double number) -> ProgramVariant {
                      return {fmt::format("blocked cells are filled with {:.9g}", number),
                              fmt::format("--set mask.value={:.9g}", number),
                              [number](AttentionInputs& other) { other.options.mask_value = number; }};
                    }});
    fits.push_back({values, [](double number) -> ProgramVariant {
                      return {fmt::format("{:.9g} is added to blocked cells", number),
                              {masked_as([number](double score, double bias) {
                                return is_blocked(bias) ? score + number : score + bias;
                              })}};
                    }});
  }
  if (o.alibi)
    fits.push_back({{0.01, 0.1, 1},
                    [heads = static_cast<std::size_t>(resolved_options(inputs).num_heads)](
                        double number) -> ProgramVariant {
                      return {fmt::format("ALiBi's slope is {:.9g} in every head", number),
                              {alibi_with(std::vector<double>(heads, number))}};
                    }});
  const auto is_float = [](const TensorPtr& mask) { return mask && mask->dtype() != DType::boolean; };
  if (o.alibi || is_float(t.attn_mask) || is_float(t.key_padding_mask))
    fits.push_back({{-1, 0.1, 0.3, 3, 10}, [](double number) -> ProgramVariant {
                      return {fmt::format("what the masks add is multiplied by {:.9g}", number),
                              {masked_as([number](double score, double bias) {
                                return is_blocked(bias) ? bias : score + bias * number;
                              })}};
                    }});
}

void add_scores(const AttentionInputs& inputs, const AttentionOptions& o, std::vector<FittedVariant>& fits) {
  const auto add = [&](std::string text, const char* key, auto change, const std::vector<double>& starts) {
    fits.push_back({starts, [=](double number) -> ProgramVariant {
                      return {fmt::format(fmt::runtime(text), number),
                              fmt::format("--set attention.{}={:.17g}", key, number),
                              [=](AttentionInputs& other) { change(other.options, number); }};
                    }});
  };
  add("the scores are scaled by {:.9g}", "scale", [](AttentionOptions& p, double number) { p.scale = number; },
      {0.01, 0.03, 0.1, 0.3, 1, 3, 10, -0.1, -1});
  add("the scores are capped by {0:.9g}·tanh(score/{0:.9g})", "softcap",
      [](AttentionOptions& p, double number) { p.softcap = number; }, {0.5, 1, 2, 5, 10, 20, 50, 100});
  const Index width = rotary_width(o);
  const bool rotated_as_usual =
      width > 2 && width % 2 == 0 && !o.add_zero_attn && !inputs.tensors.bias_k && !inputs.tensors.static_k;
  if (rotated_as_usual)
    add("q and k are rotated by their positions (rotary, base {:.9g})", "rotary_base",
        [](AttentionOptions& p, double number) {
          p.rotary_base = number;
          p.rotary_inverse_frequencies.clear();
        },
        {3, 10, 30, 100, 1e3, 1e4, 1e5, 1e6});
}

// What is added under the root of a norm, of q and k or of the latents.
void add_norm_epsilon(const AttentionOptions& o, std::vector<FittedVariant>& fits) {
  if (!o.qk_norm && !is_latent(o)) return;
  const bool latents = is_latent(o);
  const auto member = latents ? &AttentionOptions::latent_norm_epsilon : &AttentionOptions::qk_norm_epsilon;
  const char* const key = latents ? "latent_norm_epsilon" : "qk_norm_epsilon";
  const char* const norm = latents ? "the norm of the latents" : "QK-norm";
  fits.push_back({{1e-8, 1e-6, 1e-4, 1e-2, 1}, [=](double number) -> ProgramVariant {
                    return {fmt::format("the epsilon of {} is {:.9g}", norm, number),
                            fmt::format("--set attention.{}={}", key, number),
                            [=](AttentionInputs& other) { other.options.*member = number; }};
                  }});
}

// The largest score of a row, or `least`, and Σ exp(score − maximum).
std::pair<double, double> maximum_and_sum(std::span<const double> scores, double least) {
  double maximum = least, sum = 0.0;
  for (const double score : scores) maximum = std::max(maximum, score);
  for (const double score : scores) sum += std::exp(score - maximum);
  return {maximum, sum};
}

void add_weights(std::vector<FittedVariant>& fits) {
  for (const bool shifted : {false, true})
    fits.push_back({{0.01, 0.1, 1, 10}, [shifted](double number) -> ProgramVariant {
                      const auto weights = [number, shifted](const Trace& so_far) {
                        const auto scores = so_far.tensors.masked_scores->values<double>();
                        return mapped_rows(*so_far.tensors.attn_weights, [&, first = scores.begin()](
                                                                             std::span<double> row) mutable {
                          const auto [maximum, sum] = maximum_and_sum({first, row.size()}, -HUGE_VAL);
                          const double extra = shifted ? number : number * std::exp(-maximum);
                          for (double& weight : row) weight = weight * sum / (sum + extra);
                          first += std::ssize(row);
                        });
                      };
                      return {fmt::format("{:.9g} is added to the sum of the softmax{}", number,
                                          shifted ? " after the row's maximum was subtracted" : ""),
                              {{Id::attn_weights, weights}}};
                    }});
  fits.push_back({{1}, [](double number) -> ProgramVariant {
                    return {fmt::format("the weights are multiplied by {:.9g}", number),
                            {multiplied(Id::attn_weights, number)}};
                  }});
  fits.push_back({{1}, [](double number) -> ProgramVariant {
                    return {fmt::format("the heads' output is multiplied by {:.9g}", number),
                            {multiplied(Id::head_output, number)}};
                  }});
}

// Numbers of which each head has its own.
void add_per_head(const AttentionInputs& inputs, const AttentionOptions& o, std::vector<FittedVariant>& fits) {
  constexpr Index most_heads = 32;  // a step of the search runs once per number
  if (o.num_heads < 2 || o.num_heads > most_heads) return;
  const auto count = static_cast<std::size_t>(o.num_heads);
  const auto listed = [](const std::vector<double>& numbers) {
    std::vector<std::string> texts;
    for (const double number : numbers) texts.push_back(fmt::format("{:.6g}", number));
    return join(texts, ", ");
  };
  fits.push_back(
      {{1, 0.1, 10}, count, [listed](const std::vector<double>& exponentials) -> ProgramVariant {
         std::vector<double> sinks;
         for (const double number : exponentials) sinks.push_back(std::log(number));
         const auto weights = [sinks](const Trace& so_far) {
           const auto queries = static_cast<std::size_t>(so_far.tensors.masked_scores->shape().size(2));
           return mapped_rows(*so_far.tensors.masked_scores,
                              [&, place = std::size_t{0}](std::span<double> row) mutable {
                                const double sink = sinks[place++ / queries % sinks.size()];
                                auto [maximum, sum] = maximum_and_sum(row, sink);
                                sum += std::exp(sink - maximum);
                                for (double& cell : row) cell = std::exp(cell - maximum) / sum;
                              });
         };
         return {
             fmt::format("each head has an attention sink of its own: exp(sink) is added to the sum of its "
                         "softmax, and the sinks are {}",
                         listed(sinks)),
             fmt::format("--set 'attention.sink=[{}]'", listed(sinks)),
             Change(),
             {{Id::attn_weights, weights}}};
       }});
  if (!inputs.options.alibi) return;
  fits.push_back({{0.1, 1}, count, [listed](const std::vector<double>& slopes) -> ProgramVariant {
                    return {fmt::format("ALiBi's slopes are {}", listed(slopes)), {alibi_with(slopes)}};
                  }});
}

void add_outputs(const AttentionInputs& inputs, std::vector<FittedVariant>& fits) {
  if (!projects(inputs.options.op)) return;
  const auto add_bias = [&](const char* name, TensorPtr TraceTensors::*member,
                            const std::vector<double>& starts) {
    if (!(inputs.tensors.*member)) return;
    fits.push_back(
        {starts, [=](double number) -> ProgramVariant {
           return {fmt::format("{} is multiplied by {:.9g}", name, number), [=](AttentionInputs& other) {
                     TensorPtr& bias = other.tensors.*member;
                     bias = shared_tensor(mapped_cells(*bias, [=](double x) { return x * number; }));
                   }};
         }});
  };
  add_bias("out_proj.bias", &TraceTensors::out_proj_bias, {1});
  add_bias("in_proj_bias", &TraceTensors::in_proj_bias, {0.3, 0.5, 2, -1});
  const TensorPtr query = inputs.tensors.query, weight = inputs.tensors.out_proj_weight;
  if (query && weight && query->shape().size(2) == weight->shape().size(0))
    fits.push_back({{1}, [](double number) -> ProgramVariant {
                      const auto output = [number](const Trace& so_far) {
                        Tensor result = *so_far.tensors.output;
                        for (Index i = 0; i < result.size(); ++i)
                          result.set_flat(i, result.flat(i) + number * so_far.tensors.query->flat(i));
                        return result;
                      };
                      return {fmt::format("{:.9g} times the query is added to the output", number),
                              {{Id::output, output}}};
                    }});
}

}  // namespace

std::vector<FittedVariant> fitted_variants(const AttentionInputs& inputs,
                                           const std::optional<StretchedRope>& stretched) {
  std::vector<FittedVariant> fits;
  const AttentionOptions o = resolved_options(inputs);
  if (o.head_dim == 0) return fits;
  add_norm_epsilon(o, fits);
  if (stretched) add_fitted_stretch(inputs, *stretched, fits);
  add_fitted_masks(inputs, fits);
  add_scores(inputs, o, fits);
  add_weights(fits);
  add_outputs(inputs, fits);
  add_per_head(inputs, o, fits);
  return fits;
}

}  // namespace headwise
