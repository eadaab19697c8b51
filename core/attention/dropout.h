// Dropout on the probabilities, with reproducible random numbers.
#pragma once

#include <cstdint>

#include "core/tensor/random.h"
#include "core/tensor/tensor.h"

namespace headwise {

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
