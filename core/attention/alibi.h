// Attention with linear biases (Press et al., "Train Short, Test Long", ICLR 2022): a bias that grows with
// distance is added to the scores.
#pragma once

#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

// m_h = 2^(−8(h+1)/H) if H is a power of two. Otherwise, as published by the authors: the slopes of the next
// lower power of two P, then every second slope of 2P, starting with the first, until there are H. All are
// multiplied by `scale` (AttentionOptions::alibi_scale).
std::vector<double> alibi_slopes(Index heads, double scale = 1.0);

// −m_h·distance, where distance = query + offset − key counts backwards. A key ahead of the query gets
// −m_h·|distance|; with a causal mask it is blocked anyway and gets 0.
double alibi_bias(double slope, Index distance, bool is_causal);

}  // namespace headwise
