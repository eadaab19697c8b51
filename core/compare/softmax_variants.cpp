// Weights that are not a softmax over the keys: over another axis, with another sum, of another function.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/attention/softmax.h"
#include "core/compare/narrow_types.h"
#include "core/compare/program_variants.h"
#include "core/compare/tensor_fill.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

using Id = TensorId;

// Turns a row of scores into a row of weights.
using RowRule = std::function<void(std::span<double> row)>;

double row_maximum(std::span<const double> row) {
  const double maximum = *std::ranges::max_element(row);
  return std::isinf(maximum) && maximum < 0 ? 0.0 : maximum;  // a row of only −inf becomes exp(−inf) = 0
}

StageChange by_rows(RowRule rule) {
  return {Id::attn_weights, [rule = std::move(rule)](const Trace& so_far) {
            Tensor weights = *so_far.tensors.masked_scores;
            const auto keys = static_cast<std::size_t>(weights.shape().size(3));
            const std::span<double> cells = weights.values<double>();
            for (std::size_t row = 0; keys > 0 && row < cells.size(); row += keys)
              rule(cells.subspan(row, keys));
            return weights;
          }};
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
    for (const bool nan : {true, false}) {  // a column in which every score is −inf
      variants.push_back({axis.text, "", {}, {{Id::attn_weights, [axes = axis.axes, nan](const Trace& so_far) {
                                                 const Tensor weights =
                                                     softmax_over(*so_far.tensors.masked_scores, axes);
                                                 if (nan) return weights;
                                                 return mapped_cells(weights, [](double x) {
                                                   return std::isnan(x) ? 0.0 : x;
                                                 });
                                               }}}});
    }
    variants.push_back({axis.text,
                        "",
                        [](AttentionInputs& other_inputs) { other_inputs.options.mask_value = -1e9; },
                        {{Id::attn_weights,
                          [axes = axis.axes](const Trace& so_far) {
                            return softmax_over(*so_far.tensors.masked_scores, axes);
                          }}},
                        {},
                        "blocked cells are filled with a large negative number, -1e9 say"});
  }
}

void add_rule(ProgramVariants& variants, std::string text, RowRule rule) {
  variants.push_back({std::move(text), "", {}, {by_rows(std::move(rule))}});
}

// A softmax with another sum, or without one.
void add_sums(ProgramVariants& variants) {
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
        ProgramVariant variant{fmt::format("the softmax is computed in {} and cast back", type.name)};
        variant.stages = {by_rows([=](std::span<double> row) {
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
        })};
        variants.push_back(std::move(variant));
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
  add_sums(variants);
  add_changed_softmaxes(variants);
  add_narrow_softmaxes(inputs.options, variants);
  add_other_functions(variants);
  const double p = inputs.options.dropout;
  if (p > 0.0 && p < 1.0)
    variants.push_back({"what dropout leaves is not divided by 1 − p",
                        "",
                        {},
                        {{Id::dropped_weights, [p](const Trace& so_far) {
                            return mapped_cells(*so_far.tensors.dropped_weights,
                                                [p](double x) { return x * (1.0 - p); });
                          }}}});
}

}  // namespace headwise
