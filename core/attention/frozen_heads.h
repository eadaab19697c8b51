// Frozen heads: heads whose attention weights stay as recorded earlier, whatever the scores have become
// since. Only their values can still change the output of such a head. Freezing attention patterns comes from
// "A Mathematical Framework for Transformer Circuits" (Elhage et al., 2021) and from activation patching.
#pragma once

#include <span>
#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

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

}  // namespace headwise
