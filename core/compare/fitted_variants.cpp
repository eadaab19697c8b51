// Variants with one number that theirs chose differently: found by computing, not from a list.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/attention/rotary_embedding.h"
#include "core/compare/mask_patterns.h"
#include "core/compare/program_variants.h"
#include "core/compare/tensor_fill.h"
#include "core/tensor/join.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

using Id = TensorId;

StageChange multiplied(Id id, double number) {
  return {id, [id, number](const Trace& so_far) {
            return mapped_cells(required(so_far, id), [number](double x) { return x * number; });
          }};
}

void add_masks(const AttentionInputs& inputs, std::vector<FittedVariant>& fits) {
  const AttentionOptions& o = inputs.options;
  const TraceTensors& t = inputs.tensors;
  const bool blocking = t.attn_mask || t.key_padding_mask || t.valid_lens || o.is_causal || o.sliding_window;
  const std::vector<double> values{-0.1, -1, -3, -10, -30, -100, 0.1, 1, 5};
  if (blocking && !o.mask_value) {
    fits.push_back({[](double number) {
                      return ProgramVariant{
                          fmt::format("blocked cells are filled with {:.9g}", number),
                          fmt::format("--set mask.value={:.9g}", number),
                          [number](AttentionInputs& other) { other.options.mask_value = number; }};
                    },
                    values});
    fits.push_back({[](double number) {
                      ProgramVariant variant{fmt::format("{:.9g} is added to blocked cells", number)};
                      variant.stages = {masked_as([number](double score, double bias) {
                        return is_blocked(bias) ? score + number : score + bias;
                      })};
                      return variant;
                    },
                    values});
  }
  if (o.alibi)
    fits.push_back({[heads = static_cast<std::size_t>(resolved_options(inputs).num_heads)](double number) {
                      ProgramVariant variant{fmt::format("ALiBi's slope is {:.9g} in every head", number)};
                      variant.stages = {alibi_with(std::vector<double>(heads, number))};
                      return variant;
                    },
                    {0.01, 0.1, 1}});
  const auto is_float = [](const TensorPtr& mask) { return mask && mask->dtype() != DType::boolean; };
  if (o.alibi || is_float(t.attn_mask) || is_float(t.key_padding_mask))
    fits.push_back({[](double number) {
                      ProgramVariant variant{fmt::format("what the masks add is multiplied by {:.9g}", number)};
                      variant.stages = {masked_as([number](double score, double bias) {
                        return is_blocked(bias) ? bias : score + bias * number;
                      })};
                      return variant;
                    },
                    {-1, 0.1, 0.3, 3, 10}});
}

void add_scores(const AttentionInputs& inputs, const AttentionOptions& o, std::vector<FittedVariant>& fits) {
  fits.push_back({[](double number) {
                    return ProgramVariant{fmt::format("the scores are scaled by {:.9g}", number),
                                          fmt::format("--set attention.scale={:.17g}", number),
                                          [number](AttentionInputs& other) { other.options.scale = number; }};
                  },
                  {0.01, 0.03, 0.1, 0.3, 1, 3, 10, -0.1, -1}});
  fits.push_back({[](double number) {
                    return ProgramVariant{
                        fmt::format("the scores are capped by {0:.9g}·tanh(score/{0:.9g})", number),
                        fmt::format("--set attention.softcap={:.17g}", number),
                        [number](AttentionInputs& other) { other.options.softcap = number; }};
                  },
                  {0.5, 1, 2, 5, 10, 20, 50, 100}});
  const bool rotated_as_usual = o.head_dim > 2 && o.head_dim % 2 == 0 && !o.add_zero_attn &&
                                !inputs.tensors.bias_k && !inputs.tensors.static_k;
  if (rotated_as_usual)
    fits.push_back({[](double number) {
                      return ProgramVariant{
                          fmt::format("q and k are rotated by their positions (rotary, base {:.9g})", number),
                          fmt::format("--set attention.rotary_base={:.17g}", number),
                          [number](AttentionInputs& other) {
                            other.options.rotary_base = number;
                            other.options.rotary_inverse_frequencies.clear();
                          }};
                    },
                    {3, 10, 30, 100, 1e3, 1e4, 1e5, 1e6}});
}

void add_weights(std::vector<FittedVariant>& fits) {
  for (const bool shifted : {false, true}) {
    fits.push_back(
        {[shifted](double number) {
           ProgramVariant variant{fmt::format("{:.9g} is added to the sum of the softmax{}", number,
                                              shifted ? " after the row's maximum was subtracted" : "")};
           variant.stages = {{Id::attn_weights, [number, shifted](const Trace& so_far) {
                                const Tensor& scores = *so_far.tensors.masked_scores;
                                Tensor weights = *so_far.tensors.attn_weights;
                                const Index keys = scores.shape().size(3);
                                for (Index row = 0; keys > 0 && row < scores.size(); row += keys) {
                                  double maximum = -HUGE_VAL, sum = 0.0;
                                  for (Index s = 0; s < keys; ++s)
                                    maximum = std::max(maximum, scores.flat(row + s));
                                  for (Index s = 0; s < keys; ++s)
                                    sum += std::exp(scores.flat(row + s) - maximum);
                                  const double extra = shifted ? number : number * std::exp(-maximum);
                                  for (Index s = 0; s < keys; ++s)
                                    weights.set_flat(row + s, weights.flat(row + s) * sum / (sum + extra));
                                }
                                return weights;
                              }}};
           return variant;
         },
         {0.01, 0.1, 1, 10}});
  }
  fits.push_back({[](double number) {
                    return ProgramVariant{fmt::format("the weights are multiplied by {:.9g}", number),
                                          "",
                                          {},
                                          {multiplied(Id::attn_weights, number)}};
                  },
                  {1}});
  fits.push_back({[](double number) {
                    return ProgramVariant{fmt::format("the heads' output is multiplied by {:.9g}", number),
                                          "",
                                          {},
                                          {multiplied(Id::head_output, number)}};
                  },
                  {1}});
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
      {[listed](const std::vector<double>& exponentials) {
         std::vector<double> sinks;
         for (const double number : exponentials) sinks.push_back(std::log(number));
         ProgramVariant variant{fmt::format(
             "each head has an attention sink of its own: exp(sink) is added to the sum of its softmax, "
             "and the sinks are {}",
             listed(sinks))};
         variant.stages = {{Id::attn_weights, [sinks](const Trace& so_far) {
                              const Tensor& scores = *so_far.tensors.masked_scores;
                              Tensor weights = scores;
                              const Index keys = scores.shape().size(3), queries = scores.shape().size(2);
                              for (Index row = 0; keys > 0 && row < scores.size(); row += keys) {
                                const std::size_t head =
                                    static_cast<std::size_t>(row / keys / queries) % sinks.size();
                                double maximum = sinks[head], sum = 0.0;
                                for (Index s = 0; s < keys; ++s)
                                  maximum = std::max(maximum, scores.flat(row + s));
                                for (Index s = 0; s < keys; ++s)
                                  sum += std::exp(scores.flat(row + s) - maximum);
                                sum += std::exp(sinks[head] - maximum);
                                for (Index s = 0; s < keys; ++s)
                                  weights.set_flat(row + s, std::exp(scores.flat(row + s) - maximum) / sum);
                              }
                              return weights;
                            }}};
         return variant;
       },
       {1, 0.1, 10},
       count});
  if (!inputs.options.alibi) return;
  fits.push_back({[listed](const std::vector<double>& slopes) {
                    ProgramVariant variant{fmt::format("ALiBi's slopes are {}", listed(slopes))};
                    variant.stages = {alibi_with(slopes)};
                    return variant;
                  },
                  {0.1, 1},
                  count});
}

void add_outputs(const AttentionInputs& inputs, std::vector<FittedVariant>& fits) {
  if (inputs.options.op != Op::multi_head_attention) return;
  if (inputs.tensors.out_proj_bias)
    fits.push_back({[](double number) {
                      return ProgramVariant{fmt::format("out_proj.bias is multiplied by {:.9g}", number), "",
                                            [number](AttentionInputs& other) {
                                              TensorPtr& bias = other.tensors.out_proj_bias;
                                              bias = shared_tensor(mapped_cells(
                                                  *bias, [number](double x) { return x * number; }));
                                            }};
                    },
                    {1}});
  if (inputs.tensors.in_proj_bias)
    fits.push_back({[](double number) {
                      return ProgramVariant{fmt::format("in_proj_bias is multiplied by {:.9g}", number), "",
                                            [number](AttentionInputs& other) {
                                              TensorPtr& bias = other.tensors.in_proj_bias;
                                              bias = shared_tensor(mapped_cells(
                                                  *bias, [number](double x) { return x * number; }));
                                            }};
                    },
                    {0.3, 0.5, 2, -1}});
  const TensorPtr query = inputs.tensors.query, weight = inputs.tensors.out_proj_weight;
  if (query && weight && query->shape().size(2) == weight->shape().size(0))
    fits.push_back(
        {[](double number) {
           ProgramVariant variant{fmt::format("{:.9g} times the query is added to the output", number)};
           variant.stages = {{Id::output, [number](const Trace& so_far) {
                                Tensor result = *so_far.tensors.output;
                                for (Index i = 0; i < result.size(); ++i)
                                  result.set_flat(i, result.flat(i) + number * so_far.tensors.query->flat(i));
                                return result;
                              }}};
           return variant;
         },
         {1}});
}

}  // namespace

std::vector<FittedVariant> fitted_variants(const AttentionInputs& inputs) {
  std::vector<FittedVariant> fits;
  const AttentionOptions o = resolved_options(inputs);
  if (o.head_dim == 0) return fits;
  add_masks(inputs, fits);
  add_scores(inputs, o, fits);
  add_weights(fits);
  add_outputs(inputs, fits);
  add_per_head(inputs, o, fits);
  return fits;
}

}  // namespace headwise
