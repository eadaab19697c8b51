// Frozen heads: heads whose attention weights are held as they once were, whatever the scores have become since. What
// still changes in such a head comes through its values alone. The technique of holding the attention pattern fixed is
// that of "A Mathematical Framework for Transformer Circuits" (Elhage et al., 2021) and of activation patching.
#pragma once

#include <span>
#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

// torch.where(frozen, held, weights), head by head: weights (N,H,L,S′) in which [n,heads[f],l,s] is
// frozen_weights[n,f,l,s], rounded to its type. frozen_weights (N,F,L,S′), f32 or f64; F different heads in [0,H).
Tensor with_frozen_heads(Tensor weights, const Tensor& frozen_weights, std::span<const Index> heads);

// x (N,H,L,S′) with the slices of `heads` taken from `from`, a tensor of the same shape and type. How a gradient passes
// a frozen head by dropout, which the held weights do not go through.
Tensor with_heads_of(Tensor x, const Tensor& from, std::span<const Index> heads);

// x (N,H,L,S′) with 0 in the slices of `heads`: held weights are a constant, no gradient goes on to their scores.
Tensor with_zero_heads(Tensor x, std::span<const Index> heads);

// Heads [begin, end).
struct HeadRange {
  Index begin = 0, end = 0;
  friend bool operator==(const HeadRange&, const HeadRange&) = default;
};

// All of [0,num_heads) that are not in `heads`, as ranges, ascending.
std::vector<HeadRange> unfrozen_heads(Index num_heads, std::span<const Index> heads);

}  // namespace headwise
