// The softmax over keys, and its result for a row in which every key is blocked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/attention/tensor_names.h"
#include "core/tensor/random.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace headwise {

// weights[…,s] = exp(x[…,s] − max_s x) / Σ_s exp(x[…,s] − max_s x) over the last axis.
// A row that contains NaN or +inf becomes NaN. A row of -inf only becomes NaN or zeros, as `fully_masked`
// says.
// With `sinks` (H), for masked_scores (N,H,L,S′), each row has one more score, sinks[h], whose weight is
// dropped: the others add up to less than 1, and a row of -inf becomes zeros. Source: gpt-oss
// (transformers/models/gpt_oss).
Tensor softmax(const Tensor& masked_scores, FullyMaskedRows fully_masked, const Tensor* sinks = nullptr);

// lse[…] = max_s x + ln Σ_s exp(x[…,s] − max_s x), the last axis left out, as torch.logsumexp: -inf for a row
// of -inf, +inf where a cell is +inf, NaN where one is NaN. What flex_attention returns with return_lse.
Tensor log_sum_exp(const Tensor& masked_scores);

// What the sink takes of each row: e^s / (e^s + e^lse) = σ(sinks[h] − lse[n,h,l]), (N,H,L).
Tensor sink_shares(const Tensor& lse, const Tensor& sinks);
double sink_share(double lse, double sink);

// The sink of each head, from the tensor or else the option; empty: none.
std::vector<double> sinks_of_heads(const AttentionOptions& options, const TraceTensors& tensors, Index heads);

// Rows (all axes but the last, flat index) in which every cell is -inf;
// a row without cells is not one of them.
std::vector<Index> fully_masked_rows(const Tensor& masked_scores);

// −Σ p ln p of the probabilities of one row, in nats.

// `probability(key)` for the keys first … last − 1. nullopt if one of them is not finite, or all are 0.
template <class Probability>
std::optional<double> row_entropy(Index first, Index last, const Probability& probability) {
  double sum = 0.0, entropy = 0.0;
  for (Index key = first; key < last; ++key) {
    const auto p = static_cast<double>(probability(key));
    if (!std::isfinite(p)) return std::nullopt;
    sum += p;
    if (p > 0.0) entropy -= p * std::log(p);
  }
  // Rounding may leave a weight a little above 1.
  return sum > 0.0 ? std::optional(std::max(0.0, entropy)) : std::nullopt;
}

// Frozen heads: heads whose attention weights stay as recorded earlier, whatever the scores have become
// since. Only their values can still change the output of such a head. Freezing attention patterns comes from
// "A Mathematical Framework for Transformer Circuits" (Elhage et al., 2021) and from activation patching.

// torch.where(frozen, frozen_weights, weights), head by head: weights (N,H,L,S′) in which [n,heads[f],l,s] is
// frozen_weights[n,f,l,s], rounded to the type of weights. frozen_weights (N,F,L,S′), f32 or f64;
// F different heads in [0,H).
Tensor with_frozen_heads(Tensor weights, const Tensor& frozen_weights, std::span<const Index> heads);

// x (N,H,L,S′) with the slices of `heads` taken from `from`, a tensor of the same shape and type. Used to
// route a gradient past dropout in a frozen head, since frozen weights do not go through it.
Tensor with_heads_of(Tensor x, const Tensor& from, std::span<const Index> heads);

// x (N,H,L,S′) with 0 in the slices of `heads`: frozen weights are constant,
// so no gradient reaches their scores.
Tensor with_zero_heads(Tensor x, std::span<const Index> heads);

// Heads [begin, end).
struct HeadRange {
  Index begin = 0, end = 0;
  friend bool operator==(const HeadRange&, const HeadRange&) = default;
};

// All heads of [0,num_heads) that are not in `heads`, as ascending ranges.
std::vector<HeadRange> unfrozen_heads(Index num_heads, std::span<const Index> heads);

// Dropout on the probabilities, with reproducible random numbers.

// The factor of a weight: 0 if CounterRandom(seed, "dropout").uniform(flat cell) < p, else 1/(1−p). p in
// [0,1]; at p = 1 all are dropped. The flat cell index counts through (N,H,L,S′).
double dropout_factor(double p, std::uint64_t seed, Index flat_cell);
// The same for many cells: `random` is CounterRandom(seed, "dropout").
double dropout_factor(double p, const CounterRandom& random, Index flat_cell);

// dropped[i] = attn_weights[i]·dropout_factor(p, seed, i). A NaN stays NaN, as in PyTorch.
Tensor dropout(const Tensor& attn_weights, double p, std::uint64_t seed);
// The same for `count` cells of both tensors, starting at `at`;
// they are cells `flat_cell` onwards of the whole map.
void drop_cells(const Tensor& attn_weights, Tensor& dropped, Index at, Index count, double p,
                std::uint64_t seed, Index flat_cell);

}  // namespace headwise
